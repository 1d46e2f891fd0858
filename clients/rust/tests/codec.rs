//! Our frames and messages against those of cassandra-protocol, over a real connection: it encodes
//! every request and decodes every answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use cassandra_protocol::compression::Compression;
use cassandra_protocol::consistency::Consistency;
use cassandra_protocol::frame::frame_decoder::{
    FrameDecoder, LegacyFrameDecoder, Lz4FrameDecoder, UncompressedFrameDecoder,
};
use cassandra_protocol::frame::frame_encoder::{
    FrameEncoder, Lz4FrameEncoder, UncompressedFrameEncoder,
};
use cassandra_protocol::frame::message_response::ResponseBody;
use cassandra_protocol::frame::message_result::ResResultBody;
use cassandra_protocol::frame::{Envelope, Flags, Version};

struct Client {
    stream: TcpStream,
    version: Version,
    compression: Compression,
    framed: Option<(Box<dyn FrameEncoder>, Box<dyn FrameDecoder>)>,
    plain: LegacyFrameDecoder,
    ready: Vec<Envelope>,
}

impl Client {
    fn connect(version: Version, compression: Compression) -> Self {
        let stream = TcpStream::connect(std::env::var("SHELFMARK_CQL").unwrap()).unwrap();
        let plain = LegacyFrameDecoder::default();
        let mut client =
            Self { stream, version, compression, framed: None, plain, ready: Vec::new() };
        let name = compression.as_str().map(str::to_owned);
        let startup = Envelope::new_req_startup(name, version);
        let answer = client.ask(&startup);
        assert!(matches!(answer.response_body().unwrap(), ResponseBody::Ready));
        if version == Version::V5 {
            client.framed = Some(if compression == Compression::Lz4 {
                (Box::new(Lz4FrameEncoder::default()), Box::new(Lz4FrameDecoder::default()))
            } else {
                (
                    Box::new(UncompressedFrameEncoder::default()),
                    Box::new(UncompressedFrameDecoder::default()),
                )
            });
        }
        client
    }

    fn ask(&mut self, request: &Envelope) -> Envelope {
        let started = self.framed.is_some() || self.version < Version::V5 && !self.is_startup(request);
        let compression = if started { self.compression } else { Compression::None };
        let bytes = request.encode_with(compression).unwrap();
        match &mut self.framed {
            None => self.stream.write_all(&bytes).unwrap(),
            Some((encoder, _)) => {
                encoder.reset();
                if encoder.can_fit(bytes.len()) {
                    encoder.add_envelope(bytes);
                    self.stream.write_all(encoder.finalize_self_contained()).unwrap();
                } else {
                    let mut rest = &bytes[..];
                    while !rest.is_empty() {
                        encoder.reset();
                        let (taken, frame) = encoder.finalize_non_self_contained(rest);
                        self.stream.write_all(frame).unwrap();
                        rest = &rest[taken..];
                    }
                }
            }
        }
        let mut buffer = [0; 65_536];
        while self.ready.is_empty() {
            let read = self.stream.read(&mut buffer).unwrap();
            assert!(read > 0, "the connection ended");
            let mut data = buffer[..read].to_vec();
            let found = match &mut self.framed {
                None => self.plain.consume(&mut data, self.compression),
                Some((_, decoder)) => decoder.consume(&mut data, self.compression),
            };
            self.ready.extend(found.unwrap());
        }
        self.ready.remove(0)
    }

    fn is_startup(&self, request: &Envelope) -> bool {
        request.opcode == cassandra_protocol::frame::Opcode::Startup
    }

    fn query(&mut self, text: &str) -> ResponseBody {
        let request = Envelope::new_req_query(
            text.to_owned(),
            Consistency::One,
            None,
            false,
            None,
            None,
            None,
            None,
            None,
            None,
            Flags::empty(),
            self.version,
        );
        self.ask(&request).response_body().unwrap()
    }
}

#[test]
fn requests_and_answers_of_every_size_in_every_form() {
    for (version, compression) in [
        (Version::V3, Compression::None),
        (Version::V4, Compression::None),
        (Version::V4, Compression::Lz4),
        (Version::V4, Compression::Snappy),
        (Version::V5, Compression::None),
        (Version::V5, Compression::Lz4),
    ] {
        let mut client = Client::connect(version, compression);
        let options = Envelope::new_req_options(version);
        let supported = client.ask(&options).response_body().unwrap();
        assert!(matches!(supported, ResponseBody::Supported(_)), "{supported:?}");
        let rows = client.query("SELECT * FROM system_schema.columns");
        let ResponseBody::Result(ResResultBody::Rows(rows)) = rows else { panic!("{rows:?}") };
        assert!(rows.rows_count > 100);
        assert_eq!(rows.metadata.col_specs.len(), 8);
        // A request that takes several frames.
        let long = format!("SELECT * FROM system.local /* {} */", "x".repeat(400_000));
        let rows = client.query(&long);
        let ResponseBody::Result(ResResultBody::Rows(rows)) = rows else { panic!("{rows:?}") };
        assert_eq!(rows.rows_count, 1);
        let error = client.query("SELEKT");
        let ResponseBody::Error(error) = error else { panic!("{error:?}") };
        assert!(!error.message.is_empty());
    }
}
