# SPDX-License-Identifier: Apache-2.0
"""tools/release.sh in a small repository of its own, with a key made for it: what it signs can be checked, what was
changed is found, and what is not ready is refused."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
KEY = "Releaser <releaser@parshall.example>"
OTHER_KEY = "Somebody <somebody@parshall.example>"
FILES = {
    "meson.build": "project('parshall', 'cpp', version: '9.8.7', license: 'Apache-2.0')\n",
    "CITATION.cff": "cff-version: 1.2.0\ntitle: Parshall\nversion: 9.8.7\n",
    "debian/changelog": "parshall (9.8.7) bookworm; urgency=medium\n",
    "CHANGELOG.md": "# Changelog\n\n## 9.8.7 (2026-11-30)\n",
    ".gitignore": "/dist/\n",
}
PRODUCTS = ("parshall-9.8.7.tar.gz", "parshall_9.8.7_amd64.deb", "parshall-9.8.7-linux-x86_64.cdx.json")


@unittest.skipUnless(
    all(map(shutil.which, ("gpg", "gpg-agent", "git"))), "SKIPPED: gpg, gpg-agent or git is not installed"
)
class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.TemporaryDirectory(dir="/tmp")  # its socket has to have a short name
        cls.addClassCleanup(cls.keys.cleanup)
        cls.environment = {
            **os.environ,
            "GNUPGHOME": cls.keys.name,
            "PARTS": "",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        for key in (OTHER_KEY, KEY):  # gpg signs with the first, unless told otherwise
            words = ["--passphrase", "", "--quick-generate-key", key, "ed25519", "sign", "never"]
            subprocess.run(["gpg", "--batch", "--quiet", *words], check=True, env=cls.environment, capture_output=True)
        cls.addClassCleanup(subprocess.run, ["gpgconf", "--kill", "all"], env=cls.environment, check=False)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)
        (self.root / "tools").mkdir()
        for name in ("release.sh", "version.sh"):
            shutil.copy(SOURCE / "tools" / name, self.root / "tools")
        self.dist = self.root / "dist"
        self.dist.mkdir()
        for name in PRODUCTS:
            (self.dist / name).write_bytes(os.urandom(1000))
        (self.dist / "parshall-9.8.6.tar.gz").write_text("the release before")
        self.ran("git", "init", "--quiet")
        self.commit()
        for name in PRODUCTS:  # after any commit of a test
            os.utime(self.dist / name, (time.time() + 60,) * 2)

    def ran(self, *words, folder=None, **variables):
        environment = {**self.environment, **variables}
        return subprocess.run(words, cwd=folder or self.root, env=environment, capture_output=True, text=True)

    def commit(self):
        self.ran("git", "add", "--all")
        self.assertEqual(self.ran("git", "commit", "--quiet", "--message", "x: x").returncode, 0)

    def release(self, version="9.8.7", key=KEY, **variables):
        return self.ran("tools/release.sh", version, key, **variables)

    def checks(self):
        """Whether the signature is good, and whether the files are those that were signed."""
        signature = self.ran("gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS", folder=self.dist)
        files = self.ran("sha256sum", "--strict", "--check", "SHA256SUMS", folder=self.dist)
        return signature.returncode == 0, files.returncode == 0

    def assert_refused(self, why, **arguments):
        done = self.release(**arguments)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(why, done.stderr)
        self.assertFalse((self.dist / "SHA256SUMS.asc").exists())

    def test_all_files_of_the_version_are_signed_and_no_others(self):
        done = self.release()
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = [line.split()[1] for line in (self.dist / "SHA256SUMS").read_text().splitlines()]
        self.assertEqual(listed, sorted(PRODUCTS))
        self.assertEqual(self.checks(), (True, True))

    def test_a_changed_byte_is_found_in_each_file_and_in_the_list(self):
        self.assertEqual(self.release().returncode, 0)
        for name in (*PRODUCTS, "SHA256SUMS"):
            with self.subTest(name):
                file = self.dist / name
                whole = file.read_bytes()
                file.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
                signature, files = self.checks()
                self.assertEqual(signature, name != "SHA256SUMS")
                self.assertFalse(files)
                file.write_bytes(whole)
        self.assertEqual(self.checks(), (True, True))

    def test_the_key_that_was_named_signs(self):
        for key in (KEY, OTHER_KEY):
            with self.subTest(key):
                self.assertEqual(self.release(key=key).returncode, 0)
                said = self.ran("gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS", folder=self.dist).stderr
                self.assertIn(f'Good signature from "{key}"', said)

    def test_a_signature_of_another_key_is_not_believed(self):
        self.assertEqual(self.release().returncode, 0)
        with tempfile.TemporaryDirectory(dir="/tmp") as empty:
            done = subprocess.run(
                ["gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS"],
                cwd=self.dist, env={**self.environment, "GNUPGHOME": empty}, capture_output=True, check=False,
            )  # fmt: skip
        self.assertNotEqual(done.returncode, 0)

    def test_a_signature_that_is_not_good_ends_the_release(self):
        with tempfile.TemporaryDirectory() as folder:
            gpg = pathlib.Path(folder, "gpg")
            gpg.write_text(f'#!/bin/sh\ncase "$*" in *--verify*) exit 1 ;; esac\nexec {shutil.which("gpg")} "$@"\n')
            gpg.chmod(0o755)
            done = self.release(PATH=f"{folder}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the signature is not good", done.stderr)

    def test_files_of_another_version_are_refused(self):
        for name, text in FILES.items():
            if "9.8.7" in text:
                with self.subTest(name):
                    (self.root / name).write_text(text.replace("9.8.7", "9.8.6"))
                    self.commit()
                    self.assert_refused(f"{name} has version 9.8.6, not 9.8.7")
                    (self.root / name).write_text(text)
                    self.commit()

    def test_an_unreleased_changelog_is_refused(self):
        (self.root / "CHANGELOG.md").write_text("# Changelog\n\n## 9.8.7 (unreleased)\n")
        self.commit()
        self.assert_refused("CHANGELOG.md has no date for 9.8.7")

    def test_what_is_not_committed_is_refused(self):
        (self.root / "new.cpp").write_text("int main() {}\n")
        self.assert_refused("not committed")

    def test_a_file_older_than_the_commit_is_refused(self):
        os.utime(self.dist / PRODUCTS[1], (time.time() - 60,) * 2)
        self.assert_refused(f"older than the commit: {PRODUCTS[1]}")

    def test_wheels_need_a_python_whose_wheel_later_ones_can_use(self):
        (self.root / "tools" / "wheel.sh").write_text("#!/bin/sh\n")
        (self.root / "tools" / "wheel.sh").chmod(0o755)
        self.commit()
        pythons = {}
        with tempfile.TemporaryDirectory() as folder:
            for minor in (10, 11, 12):
                pythons[minor] = pathlib.Path(folder, f"python3.{minor}")
                code = f"import sys; sys.version_info = (3, {minor}); exec(sys.argv[1])"
                pythons[minor].write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$2"\n')
                pythons[minor].chmod(0o755)
            self.assert_refused("PYTHONS needs", PARTS="wheel", PYTHONS=f"{pythons[10]} {pythons[11]}")
            done = self.release(PARTS="wheel", PYTHONS=f"{pythons[10]} {pythons[12]}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_key_that_is_not_there_is_refused(self):
        self.assert_refused("there is no secret key nobody@parshall.example", key="nobody@parshall.example")

    def test_nothing_to_sign_is_refused(self):
        for name in PRODUCTS:
            (self.dist / name).unlink()
        self.assert_refused("nothing of 9.8.7")

    def test_a_version_and_a_key_have_to_be_named(self):
        for words in ((), ("9.8.7",), ("9.8.7", "")):
            self.assertEqual(self.ran("tools/release.sh", *words).returncode, 2)


if __name__ == "__main__":
    unittest.main()
