"""A small library of our own making, to ask the demo's questions of."""

import re
from pathlib import Path

import pytest

LIBRARY = {
    "asyncio/threads.py": '''
        def to_thread(func):
            """Run a function in another thread, later."""
        ''',
    "bad.py": "print 'two'",
    "concurrent/futures/__init__.py": '"""Run calls in a pool of workers."""',
    "concurrent/futures/thread.py": '''
        class BrokenThreadPool(Exception):
            """Raised when a worker thread of the pool dies."""

        def shutdown():
            """Say what happens to the workers."""
        ''',
    "distutils/file_util.py": '''
        def copy_file(src, dst):
            """Copy a file."""
        ''',
    "filecmp.py": '''
        def cmp(a, b):
            """Say whether it is the same file."""
        ''',
    "pathlib.py": '''
        """Paths [as] objects."""

        class Path:
            """A path of a file."""

            def samefile(self, other):
                """Is it the file?"""

            def rename(self, target):
                """Give it another name."""
        ''',
    "random.py": '''
        def choice(items):
            """Pick a random item."""
        ''',
    "shutil.py": '''
        """Copying files."""

        def copyfile(src, dst):
            """Copy the data of a file to another."""
        ''',
    "threading.py": '''
        """Threads."""

        class Condition:
            """A condition that threads wait for."""

            def notify_all(self):
                """Wake up all threads waiting on it."""

            @deprecated("Use notify_all.")
            def notifyAll(self):
                """Wake up the threads that wait."""

        def wake():
            """Wake up the threads that wait."""
        ''',
}


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds `LIBRARY`."""
    root = tmp_path_factory.mktemp("library")
    for name, source in LIBRARY.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub("^ {8}", "", source, flags=re.MULTILINE))
    return root
