# SPDX-License-Identifier: Apache-2.0
"""Filters of calls of the kernel, as service managers and containers have them, for a process that is about to run a
program."""

import ctypes
import ctypes.util
import errno

ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF, PIDFD_OPEN = 444, 445, 446, 434
_COMPARE_EQUAL = 4
_PR_SET_NO_NEW_PRIVS = 38


class _Compare(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("how", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def refused(number):
    """The action that answers with an error."""
    return 0x00050000 | number


def load(otherwise, action, calls):
    """Calls by name, by number, or as (number, argument, value)."""
    library = ctypes.CDLL(ctypes.util.find_library("seccomp"))
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(otherwise))
    for call in calls:
        call, *of = call if isinstance(call, tuple) else (call,)
        number = library.seccomp_syscall_resolve_name(call.encode()) if isinstance(call, str) else call
        compared = _Compare(of[0], _COMPARE_EQUAL, of[1], 0) if of else None
        assert (
            number < 0
            or library.seccomp_rule_add_array(
                context, ctypes.c_uint32(action), number, len(of) // 2, ctypes.byref(compared) if of else None
            )
            == 0
        ), call
    assert library.seccomp_load(context) == 0


def without_landlock():
    """As on a kernel that has none."""
    load(ALLOW, refused(errno.ENOSYS), [LANDLOCK_CREATE_RULESET])


def in_every_layer_of_landlock():
    """So that the kernel takes no more of them."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    handled = ctypes.c_uint64(1 << 11)  # to make devices
    ruleset = libc.syscall(LANDLOCK_CREATE_RULESET, ctypes.byref(handled), ctypes.sizeof(handled), 0)
    while libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0:
        pass
    assert ctypes.get_errno() == errno.E2BIG
