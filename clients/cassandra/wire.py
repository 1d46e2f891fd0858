"""The native protocol, versions 4 and 5, as far as comparing answers needs it: connect, query, prepare,
execute, and every answer as lines of text.

What it is not: a driver. It has no pool, no retries and no classes for values; a driver hides what
is compared here (exact types, empty against null, warnings, what errors carry).
"""

import re
import socket
import struct
import uuid
import zlib

OLDER, NEWER = 4, 5
ERROR, READY, AUTHENTICATE, RESULT, AUTH_SUCCESS = 0x00, 0x02, 0x03, 0x08, 0x10
STARTUP, QUERY, PREPARE, EXECUTE, AUTH_RESPONSE = 0x01, 0x07, 0x09, 0x0A, 0x0F
WARNING = 0x08
QUORUM = 4
SERIAL = 8
# Both servers create a role's password slowly on purpose; everything else is far below.
TIMEOUT_SECONDS = 60

# Of frames of version 5.
PAYLOAD_BYTES_MAX = 131_071
SELF_CONTAINED = 1 << 17
CRC32_SEED = bytes.fromhex("fa2d55ca")

TYPES = {
    0x01: "ascii", 0x02: "bigint", 0x03: "blob", 0x04: "boolean", 0x05: "counter",
    0x06: "decimal", 0x07: "double", 0x08: "float", 0x09: "int", 0x0B: "timestamp", 0x0C: "uuid",
    0x0D: "text", 0x0E: "varint", 0x0F: "timeuuid", 0x10: "inet", 0x11: "date", 0x12: "time",
    0x13: "smallint", 0x14: "tinyint", 0x15: "duration",
}
INTEGERS = {"bigint": 8, "counter": 8, "int": 4, "smallint": 2, "tinyint": 1, "timestamp": 8,
            "time": 8}
STRINGS = ("ascii", "text", "blob")


class Reader:
    """Reads what the protocol calls its notations, one behind the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError("the body ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(form)))[0]

    def string(self):
        return self.take(self.number("H")).decode()

    def strings(self):
        return [self.string() for _ in range(self.number("H"))]

    def value(self):
        length = self.number("i")
        return None if length < 0 else self.take(length)

    def type(self):
        code = self.number("H")
        if code == 0x00:
            return ("custom", self.string())
        if code in (0x20, 0x22):
            return ("list" if code == 0x20 else "set", self.type())
        if code == 0x21:
            return ("map", self.type(), self.type())
        if code == 0x30:
            keyspace, name = self.string(), self.string()
            fields = [(self.string(), self.type()) for _ in range(self.number("H"))]
            return ("udt", keyspace, name, fields)
        if code == 0x31:
            return ("tuple", [self.type() for _ in range(self.number("H"))])
        return (TYPES[code],)


def type_name(kind):
    """A type as text; user types with their fields, which the protocol sends too."""
    if kind[0] == "custom":
        return repr(kind[1].replace("org.apache.cassandra.db.marshal.", ""))
    if kind[0] in ("list", "set", "map"):
        return f"{kind[0]}<{', '.join(map(type_name, kind[1:]))}>"
    if kind[0] == "tuple":
        return f"tuple<{', '.join(map(type_name, kind[1]))}>"
    if kind[0] == "udt":
        fields = ", ".join(f"{name} {type_name(own)}" for name, own in kind[3])
        return f"{kind[1]}.{kind[2]}({fields})"
    return kind[0]


def text_of(kind, data):
    """A value as text: of which type it is stands in the columns."""
    if data is None:
        return "null"
    name = kind[0]
    if name == "blob" or name == "custom":
        return "0x" + data.hex()
    if name in ("ascii", "text"):
        try:
            return repr(data.decode())
        except UnicodeDecodeError:
            return "0x" + data.hex()
    if name == "tuple":
        return fields_of([(None, own) for own in kind[1]], data, "()")
    if name == "udt":
        return fields_of(kind[3], data, "{}")
    if not data:
        return "empty"
    if name in INTEGERS and len(data) != INTEGERS[name]:
        return "0x" + data.hex()
    if name in INTEGERS or name == "varint":
        return str(int.from_bytes(data, "big", signed=True))
    if name == "decimal":
        unscaled = int.from_bytes(data[4:], "big", signed=True)
        return f"{unscaled}e{-int.from_bytes(data[:4], 'big', signed=True)}"
    if name == "boolean":
        return {b"\0": "false", b"\1": "true"}.get(data, "0x" + data.hex())
    if name == "double":
        return repr(struct.unpack(">d", data)[0])
    if name == "float":
        return repr(struct.unpack(">f", data)[0])
    if name in ("uuid", "timeuuid"):
        return str(uuid.UUID(bytes=data))
    if name == "inet":
        family = socket.AF_INET if len(data) == 4 else socket.AF_INET6
        return socket.inet_ntop(family, data)
    if name == "date":
        return str(int.from_bytes(data, "big") - 2**31)
    if name in ("list", "set", "map"):
        return collection_of(kind, data)
    return "0x" + data.hex()


def fields_of(fields, data, brackets):
    reader, parts = Reader(data), []
    for name, own in fields:
        if reader.at == len(data):
            parts.append("-")
            continue
        shown = text_of(own, reader.value())
        parts.append(shown if name is None else f"{name}: {shown}")
    return brackets[0] + ", ".join(parts) + brackets[1]


def collection_of(kind, data):
    reader = Reader(data)
    parts = []
    for _ in range(reader.number("i")):
        shown = [text_of(own, reader.value()) for own in kind[1:]]
        parts.append(": ".join(shown))
    brackets = "[]" if kind[0] == "list" else "{}"
    return brackets[0] + ", ".join(parts) + brackets[1]


def bytes_of(kind, word):
    """A value to bind, given as a word: null, unset, 0x…, a number, or a text."""
    if word == "null" or word == "unset":
        return word
    if word.startswith("0x"):
        return bytes.fromhex(word[2:])
    name = kind[0]
    if name in INTEGERS:
        return int(word).to_bytes(INTEGERS[name], "big", signed=True)
    if name == "varint":
        number = int(word)
        return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    if name in ("double", "float"):
        return struct.pack(">d" if name == "double" else ">f", float(word))
    if name == "boolean":
        return b"\1" if word == "true" else b"\0"
    if name in ("uuid", "timeuuid"):
        return uuid.UUID(word).bytes
    if name in ("list", "set"):
        parts = [bytes_of(kind[1], part) for part in word.split("|") if part]
        return struct.pack(">i", len(parts)) + b"".join(map(sized, parts))
    if name in ("ascii", "text"):
        return word.encode()
    raise ValueError(f"give a value of type {type_name(kind)} as 0x…")


def sized(data):
    if data == "null":
        return struct.pack(">i", -1)
    if data == "unset":
        return struct.pack(">i", -2)
    return struct.pack(">i", len(data)) + data


def short(text):
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def crc24(data):
    """The checksum of a frame's header."""
    crc = 0x875060
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1974F0B
    return crc.to_bytes(3, "little")


def crc32(data):
    """The checksum of a frame's payload."""
    return zlib.crc32(data, zlib.crc32(CRC32_SEED)).to_bytes(4, "little")


class Columns:
    """The metadata of rows, or of a prepared statement's markers."""

    def __init__(self, reader, markers):
        flags = reader.number("i")
        count = reader.number("i")
        self.key = [reader.number("H") for _ in range(reader.number("i"))] if markers else []
        self.paging = reader.value() if flags & 0x02 else None
        if flags & 0x08:
            reader.take(reader.number("H"))
        self.columns = []
        if flags & 0x04:
            return
        table = (reader.string(), reader.string()) if flags & 0x01 else None
        for _ in range(count):
            own = table or (reader.string(), reader.string())
            self.columns.append((own, reader.string(), reader.type()))

    def lines(self, title):
        if not self.columns:
            return [f"{title}: none"]
        tables = sorted({".".join(own) for own, _, _ in self.columns})
        parts = ", ".join(f"{name} {type_name(kind)}" for _, name, kind in self.columns)
        return [f"{title} of {' '.join(tables)}: {parts}"]


class Connection:
    """One connection. Statements are sent one after the other."""

    def __init__(self, address, user="cassandra", password="cassandra", version=OLDER):
        self.version, self.framed, self.unread = version, False, b""
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), TIMEOUT_SECONDS)
        # Each request is one small packet whose answer is waited for.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        body = struct.pack(">H", 1) + short("CQL_VERSION") + short("3.0.0")
        opcode, reader = self.ask(STARTUP, body)
        self.framed = version >= NEWER
        if opcode == AUTHENTICATE:
            opcode, reader = self.ask(AUTH_RESPONSE, sized(f"\0{user}\0{password}".encode()))
        if opcode not in (READY, AUTH_SUCCESS):
            raise ConnectionError("\n".join(self.lines(opcode, reader)))

    def close(self):
        self.socket.close()

    def ask(self, opcode, body):
        """Sends a request and returns the answer's opcode and body; warnings are kept aside."""
        envelope = struct.pack(">BBhBi", self.version, 0, 0, opcode, len(body)) + body
        if self.framed:
            self.send_frames(envelope)
        else:
            self.socket.sendall(envelope)
        header = self.receive(9)
        _, flags, _, answered, length = struct.unpack(">BBhBi", header)
        reader = Reader(self.receive(length))
        self.warnings = reader.strings() if flags & WARNING else []
        return answered, reader

    def send_frames(self, envelope):
        parts = [envelope[at:at + PAYLOAD_BYTES_MAX]
                 for at in range(0, len(envelope), PAYLOAD_BYTES_MAX)]
        whole = SELF_CONTAINED if len(parts) == 1 else 0
        for part in parts:
            header = (len(part) | whole).to_bytes(3, "little")
            self.socket.sendall(header + crc24(header) + part + crc32(part))

    def receive(self, count):
        """Receives bytes of envelopes, out of frames where there are some."""
        if not self.framed:
            return self.receive_bytes(count)
        while len(self.unread) < count:
            header = self.receive_bytes(6)
            if crc24(header[:3]) != header[3:]:
                raise ConnectionError("the checksum of a frame's header is wrong")
            length = int.from_bytes(header[:3], "little") & PAYLOAD_BYTES_MAX
            payload = self.receive_bytes(length)
            if crc32(payload) != self.receive_bytes(4):
                raise ConnectionError("the checksum of a frame's payload is wrong")
            self.unread += payload
        taken, self.unread = self.unread[:count], self.unread[count:]
        return taken

    def receive_bytes(self, count):
        parts = []
        while count:
            part = self.socket.recv(count)
            if not part:
                raise ConnectionError("the server closed the connection")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def run(self, text, words=None, page=None, now=None):
        """Runs a statement and returns its answer as lines. `words` are values to bind, so the
        statement is prepared and what PREPARE says comes first; with `page` every page is asked
        for; `now` is the second that expiry is judged by (version 5)."""
        lines, key, kinds, columns = [], None, [], []
        if words is not None:
            body = text.encode()
            flags = struct.pack(">i", 0) if self.version >= NEWER else b""
            opcode, reader = self.ask(PREPARE, struct.pack(">i", len(body)) + body + flags)
            if opcode == ERROR:
                return self.lines(opcode, reader)
            reader.number("i")
            key = [reader.take(reader.number("H"))]
            if self.version >= NEWER:
                key.append(reader.take(reader.number("H")))
            markers, rows = Columns(reader, True), Columns(reader, False)
            kinds = [kind for _, _, kind in markers.columns]
            lines += markers.lines("markers")
            if markers.key:
                lines.append(f"key: {markers.key}")
            lines += self.warning_lines()
            columns = rows
        paging = None
        pages = 0
        while True:
            opcode, reader = self.send(text, key, kinds, words, page, paging, now)
            answer, paging = self.answer(opcode, reader)
            if pages and paging is None and self.rows == 0:
                # Whether an empty page follows a full one is up to the server.
                return lines[:-1]
            pages += 1
            if words is not None and columns.columns:
                shown = columns.lines("columns")
                if answer and answer[0] != shown[0] and answer[0].startswith("columns"):
                    answer.insert(0, "prepared " + shown[0])
            lines += answer
            if paging is None:
                return lines
            lines.append("-- next page")

    def send(self, text, key, kinds, words, page, paging, now):
        flags, rest = 0x10, b""
        if words:
            flags |= 0x01
            values = [bytes_of(kind, word) for kind, word in zip(kinds, words)]
            # Too few or too many values are sent as they are: their refusal is compared too.
            values += [b"" for _ in words[len(kinds):]]
            rest += struct.pack(">H", len(values)) + b"".join(map(sized, values))
        if page is not None:
            flags |= 0x04
            rest += struct.pack(">i", page)
        if paging is not None:
            flags |= 0x08
            rest += sized(paging)
        rest += struct.pack(">H", SERIAL)
        if now is not None:
            flags |= 0x100
            rest += struct.pack(">i", now)
        options = struct.pack(">Hi" if self.version >= NEWER else ">HB", QUORUM, flags) + rest
        if key is None:
            body = text.encode()
            return self.ask(QUERY, struct.pack(">i", len(body)) + body + options)
        ids = b"".join(struct.pack(">H", len(part)) + part for part in key)
        return self.ask(EXECUTE, ids + options)

    def warning_lines(self):
        return ["warning: " + text.replace("\n", "\\n") for text in self.warnings]

    def lines(self, opcode, reader):
        return self.answer(opcode, reader)[0]

    def answer(self, opcode, reader):
        lines = self.warning_lines()
        self.rows = None
        if opcode == ERROR:
            return lines + error_of(reader), None
        if opcode != RESULT:
            return lines + [f"opcode {opcode}"], None
        kind = reader.number("i")
        if kind == 1:
            return lines + ["ok"], None
        if kind == 3:
            return lines + [f"keyspace {reader.string()}"], None
        if kind == 5:
            change, target, keyspace = reader.string(), reader.string(), reader.string()
            words = [change, target, keyspace]
            if target != "KEYSPACE":
                words.append(reader.string())
            if target in ("FUNCTION", "AGGREGATE"):
                words.append(f"({', '.join(reader.strings())})")
            return lines + [" ".join(words)], None
        if kind != 2:
            return lines + [f"result {kind}"], None
        metadata = Columns(reader, False)
        lines = metadata.lines("columns") + lines
        self.rows = reader.number("i")
        for _ in range(self.rows):
            cells = [text_of(own, reader.value()) for _, _, own in metadata.columns]
            lines.append(" | ".join(cells))
        if reader.at != len(reader.data):
            lines.append("bytes behind the last row")
        return lines, metadata.paging


# Cassandra lists them in the order of a hash table.
SIGNATURES = re.compile(r"(signatures: )([^)]* : .*)(\)(?:: use type casts to disambiguate)?)$")


def sorted_signatures(found):
    names = sorted(re.split(r", (?=\S+ : )", found[2]))
    return found[1] + ", ".join(names) + found[3]


def error_of(reader):
    code, text = reader.number("i"), reader.string()
    text = SIGNATURES.sub(sorted_signatures, text)
    # What Java calls an object that has no name of its own.
    text = re.sub(r"(\w)@[0-9a-f]{4,8}\b", r"\1@HASH", text)
    lines = [f"error {code:04x}: " + text.replace("\n", "\\n")]
    if code == 0x2400:
        lines.append(f"about: {reader.string()} {reader.string()}".rstrip())
    return lines
