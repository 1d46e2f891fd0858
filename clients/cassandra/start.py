"""Starts one Apache Cassandra on loopback, from the libraries that `mvn` has put into a folder.

    start.py LIBRARIES FOLDER PORT [HEAP]

FOLDER is made anew and holds everything that it writes. Roles are on (cassandra / cassandra), as
are materialized views and user-defined functions; SASI indexes are off, as they are by default and as
here they always are. Prints the process id once the port answers.

As an oracle it is made to start quickly. To be measured it runs as it does by default: see `start`.
"""

import pathlib
import shutil
import socket
import subprocess
import sys
import time

START_SECONDS_MAX = 180

# Packages of the JDK that Cassandra reaches into; without them it does not start on Java 17.
OPENED = """java.base/java.io java.base/java.lang java.base/java.lang.module
java.base/java.lang.reflect java.base/java.math java.base/java.net java.base/java.nio
java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic
java.base/jdk.internal.loader java.base/jdk.internal.math java.base/jdk.internal.module
java.base/jdk.internal.ref java.base/jdk.internal.reflect java.base/jdk.internal.util.jar
java.base/sun.nio.ch java.rmi/sun.rmi.transport.tcp jdk.compiler/com.sun.tools.javac
jdk.management/com.sun.management.internal""".split()
EXPORTED = """java.base/java.lang.ref java.base/jdk.internal.misc java.base/jdk.internal.ref
java.base/sun.nio.ch java.management.rmi/com.sun.jmx.remote.internal.rmi
java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql
jdk.attach/sun.tools.attach jdk.compiler/com.sun.tools.javac.file jdk.unsupported/sun.misc""".split()

SETTINGS = """\
cluster_name: 'Oracle'
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
    - class_name: org.apache.cassandra.locator.SimpleSeedProvider
      parameters:
          - seeds: "127.0.0.1:{storage}"
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: {storage}
native_transport_port: {port}
start_native_transport: true
data_file_directories: ['{folder}/data']
commitlog_directory: {folder}/commitlog
hints_directory: {folder}/hints
saved_caches_directory: {folder}/caches
cdc_raw_directory: {folder}/cdc
auto_snapshot: false
auto_bootstrap: false
materialized_views_enabled: true
user_defined_functions_enabled: true
drop_compact_storage_enabled: true
dynamic_data_masking_enabled: true
"""

ROLES = """\
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
role_manager: CassandraRoleManager
permissions_validity: 100ms
roles_validity: 100ms
credentials_validity: 100ms
"""

SYNC = {
    "periodic": "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\n",
    "batch": "commitlog_sync: batch\n",
}

# Quick to start, and not quick later; a new table is in memory at once, without this each waits for
# the disk.
HURRY = ["-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dcassandra.unsafesystem=true"]
MEASURED = ["-Xss256k", "-XX:+UseG1GC", "-XX:+AlwaysPreTouch", "-XX:+ParallelRefProcEnabled",
            "-XX:MaxGCPauseMillis=300"]

LOG = """\
<configuration><appender name="file" class="ch.qos.logback.core.FileAppender">
<file>{folder}/system.log</file><encoder><pattern>%level %date %F:%L %msg%n</pattern></encoder>
</appender><root level="WARN"><appender-ref ref="file"/></root></configuration>
"""


def command(libraries, folder, port, heap, machine):
    out = ["java", f"-Xms{heap}", f"-Xmx{heap}", *machine, "-Djdk.attach.allowAttachSelf=true",
           "-Djava.security.manager=allow", "-Dio.netty.tryReflectionSetAccessible=true"]
    out += [f"--add-opens={name}=ALL-UNNAMED" for name in OPENED]
    out += [f"--add-exports={name}=ALL-UNNAMED" for name in EXPORTED]
    properties = {
        "logback.configurationFile": f"{folder}/logback.xml",
        "cassandra.config": f"file://{folder}/cassandra.yaml",
        "cassandra.logdir": folder,
        "cassandra.storagedir": folder,
        "cassandra.ring_delay_ms": 1000,
        "cassandra.skip_wait_for_gossip_to_settle": 0,
        "cassandra.superuser_setup_delay_ms": 0,
        "cassandra.jmx.local.port": port + 1,
    }
    out += [f"-D{name}={value}" for name, value in properties.items()]
    return out + ["-cp", f"{libraries}/*", "org.apache.cassandra.service.CassandraDaemon"]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def start(libraries, folder, port, heap, measured=None):
    """Starts it and returns the process id once the port answers. `measured` is when it syncs what
    is written (`periodic`, its default, or `batch`), for one that is measured: without roles, and
    with the collector and compiler that it has by default."""
    folder = pathlib.Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    port = int(port)
    values = {"folder": folder, "port": port, "storage": port + 2}
    settings = SETTINGS + SYNC[measured or "periodic"] + ("" if measured else ROLES)
    (folder / "cassandra.yaml").write_text(settings.format(**values))
    (folder / "logback.xml").write_text(LOG.format(**values))
    libraries = pathlib.Path(libraries).resolve()
    output = (folder / "out.log").open("w")
    words = command(libraries, folder, port, heap, MEASURED if measured else HURRY)
    process = subprocess.Popen(words, cwd=folder, stdout=output, stderr=output,
                               stdin=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + START_SECONDS_MAX
    while not answers(port):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"Cassandra did not start; see {folder}/out.log")
        time.sleep(0.5)
    return process.pid


def main(libraries, folder, port, heap="512M"):
    print(start(libraries, folder, port, heap))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
