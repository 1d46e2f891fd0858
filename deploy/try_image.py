"""Builds the image with what this machine has, starts it, asks for its health, and stops it.

    try_image.py COMMAND

It needs `buildah` (Debian: apt-get install buildah) and no other machine: the two base images are made of
files of this one, and in place of a compiler COMMAND, which was built before, is copied. What it does not
show is that the public base images have what the build needs.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ("bash", "sh", "mkdir", "cp")
COMPILER = "#!/bin/sh\nset -e\nmkdir -p /target/release\ncp /shelfmark /target/release/shelfmark\n"
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60


class Builder:
    """buildah with images and containers of its own, which go away with the folder."""

    def __init__(self, folder):
        self.folder = folder
        self.words = ["buildah", "--root", str(folder / "images"), "--runroot", str(folder / "run")]
        # Without mounts, which would outlive a run that was ended.
        self.words += ["--storage-driver", "vfs"]
        self.environment = {**os.environ, "BUILDAH_ISOLATION": "chroot"}

    def start(self, *words, **options):
        return subprocess.Popen(self.words + list(words), env=self.environment, cwd=ROOT, **options)

    def run(self, *words):
        done = subprocess.run(self.words + list(words), env=self.environment, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"error: buildah {' '.join(words)}:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()


def main(command):
    if shutil.which("buildah") is None:
        raise SystemExit("error: there is no buildah; on Debian: apt-get install buildah")
    with tempfile.TemporaryDirectory(prefix="shelfmark-image-") as folder:
        builder = Builder(pathlib.Path(folder))
        base_images(builder, command)
        builder.run(
            *("bud", "--format", "docker", "--build-arg", "BUILD_IMAGE=localhost/build"),
            *("--build-arg", "BASE_IMAGE=localhost/base", "--tag", "shelfmark"),
            *("--file", "deploy/Containerfile", "--ignorefile", "deploy/Containerfile.dockerignore", "."),
        )
        try_out(builder)
    print("image: 1 passed, 0 failed")


def base_images(builder, command):
    """Makes the two base images: a shell with its libraries, and that with a compiler which copies."""
    files = builder.folder / "files"
    for program in [shutil.which(name) for name in PROGRAMS]:
        copied = files / "bin" / pathlib.Path(program).name
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, copied)
        libraries(program, files)
    libraries(command, files)
    for name in ("tmp", "etc", "usr/local/bin"):
        (files / name).mkdir(parents=True, exist_ok=True)
    container = builder.run("from", "scratch")
    builder.run("copy", container, str(files), "/")
    builder.run("commit", container, "localhost/base")
    compiler = builder.folder / "cargo"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    builder.run("copy", container, str(compiler), "/usr/local/bin/cargo")
    builder.run("copy", container, command, "/shelfmark")
    builder.run("commit", container, "localhost/build")


def libraries(program, files):
    """Copies the libraries that a program loads to where it looks for them."""
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/\S+) \(", loaded):
        copied = files / library.lstrip("/")
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, copied)


def try_out(builder):
    """Starts the image by its own command, waits for its health, and stops it by its own signal."""
    container = builder.run("from", "localhost/shelfmark")
    settings = json.loads(builder.run("inspect", container))["Docker"]["config"]
    command = settings["Entrypoint"] + settings["Cmd"]
    health = settings["Healthcheck"]["Test"][1:]
    server = builder.start("run", container, "--", *command, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + START_SECONDS_MAX
        while subprocess.run(builder.words + ["run", container, "--", *health], env=builder.environment).returncode:
            if time.monotonic() > deadline or server.poll() is not None:
                raise SystemExit("error: the image did not become healthy")
            time.sleep(0.2)
        owner = builder.run("run", container, "--", "bash", "-c", "test -O /var/lib/shelfmark && echo $UID")
        if owner != "65532":
            raise SystemExit(f"error: the image runs as {owner}, or its folder is another's")
    finally:
        stop(server)
    if settings["StopSignal"] != "SIGTERM":
        raise SystemExit("error: the image is not stopped by SIGTERM")


def stop(server):
    """Ends the server, which is a descendant of the process that runs the container."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parents = ancestors(int(folder.name))
        except (OSError, ValueError):
            continue
        if words[0].endswith(b"/shelfmark") and server.pid in parents:
            os.kill(int(folder.name), 15)
    if server.wait(STOP_SECONDS_MAX) != 0:
        raise SystemExit("error: the image did not stop in good order")


def ancestors(process):
    """Returns the ids of a process's parents, nearest first."""
    found = []
    while process > 1:
        status = pathlib.Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
        found.append(process)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(os.path.abspath(sys.argv[1]))
