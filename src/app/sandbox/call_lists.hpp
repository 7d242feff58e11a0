// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace parshall::sandbox {

/// System calls that no run makes once its source is open; a process that makes one has been taken over.
inline constexpr std::string_view kNever[] = {
    // programs, and other processes
    "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    // view of the system
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "setns", "unshare", "open_by_handle_at", "quotactl", "quotactl_fd", "swapon", "swapoff",
    "acct",
    // the kernel itself
    "bpf", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "syslog",
    "perf_event_open", "userfaultfd", "iopl", "ioperm", "modify_ldt", "vm86", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "lookup_dcookie", "nfsservctl", "uselib", "_sysctl",
    // keys, clocks and names
    "add_key", "keyctl", "request_key", "settimeofday", "clock_settime", "stime", "adjtimex", "clock_adjtime",
    "sethostname", "setdomainname", "vhangup",
    // identity of the process; not setfsuid and setfsgid: ncurses 6.5 asks for what it has, so they fail instead
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset",
    // owners and permissions of files
    "chown", "fchown", "lchown", "fchownat", "mknod", "mknodat", "setxattr", "lsetxattr", "fsetxattr"};

/// System calls that a run needs: for its own code, and for the C and C++ libraries, OpenSSL, librdkafka, DPDK and
/// ncurses.
inline constexpr std::string_view kAllowed[] = {
    // open files
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "lseek",
    "close", "close_range", "dup", "dup2", "dup3", "fcntl", "flock", "ioctl", "fstat", "fstatfs", "ftruncate",
    "fallocate", "fadvise64", "readahead", "fsync", "fdatasync", "sync_file_range", "fchmod", "getdents64", "pipe",
    "pipe2", "sendfile",
    // files, as far as Landlock and their permissions allow
    "open", "openat", "creat", "stat", "lstat", "newfstatat", "statx", "statfs", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getcwd", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat",
    "renameat2", "umask", "getxattr", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
    // memory
    "brk", "mmap", "munmap", "mprotect", "mremap", "madvise", "mincore", "msync", "mlock", "mlock2", "munlock",
    "mlockall", "munlockall", "mbind", "get_mempolicy", "set_mempolicy", "move_pages", "membarrier", "pkey_mprotect",
    // threads
    "clone", "set_tid_address", "set_robust_list", "get_robust_list", "rseq", "futex", "futex_waitv", "exit",
    "exit_group", "gettid", "getpid", "getppid", "getpgrp", "getpgid", "getsid", "tgkill", "kill", "wait4", "waitid",
    "prctl", "arch_prctl", "sched_yield", "sched_getaffinity", "sched_getscheduler", "sched_getparam", "sched_getattr",
    "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "getpriority", "ioprio_get", "getcpu",
    // identity and limits of the process
    "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "capget", "getrlimit", "setrlimit",
    "getrusage", "times", "sysinfo", "uname", "getrandom",
    // signals and time
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait",
    "sigaltstack", "signalfd4", "restart_syscall", "pause", "alarm", "clock_gettime", "clock_getres", "clock_nanosleep",
    "nanosleep", "gettimeofday", "time", "getitimer", "setitimer", "timer_create", "timer_settime", "timer_gettime",
    "timer_getoverrun", "timer_delete", "timerfd_create", "timerfd_settime", "timerfd_gettime",
    // waiting
    "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
    "epoll_pwait2", "eventfd", "eventfd2",
    // sockets
    "socket", "bind", "listen", "accept", "accept4", "connect", "getsockname", "getpeername", "sendto", "sendmsg",
    "sendmmsg", "recvfrom", "recvmsg", "recvmmsg", "shutdown", "getsockopt", "setsockopt"};

/// Allowed only for the caller itself: the first argument is 0 or the own process.
inline constexpr std::string_view kOfItself[] = {"sched_setaffinity", "sched_setscheduler", "sched_setparam",
                                                 "sched_setattr", "prlimit64"};

}  // namespace parshall::sandbox
