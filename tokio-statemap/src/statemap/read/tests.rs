//! Tests that the result depends neither on the chunks in which bytes arrive, nor on how a record is written.

use std::io::{self, Read};

use super::plain::datum;
use super::records::CHUNK_BYTES;
use super::{ReadError, Statemap, read};

const METADATA: &str = r#"{"start":[1,2],"title":"t","states":{"a":{"value":0},"b":{"value":1}}}"#;

/// A reader that returns its bytes in small pieces.
struct Piecewise<'a>(&'a [u8], usize);

impl Read for Piecewise<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn told(result: Result<Statemap, ReadError>) -> Result<Statemap, String> {
    result.map_err(|error| error.to_string())
}

#[test]
fn pieces_of_any_size_make_the_same() {
    let good = format!(
        "{METADATA}\n{}\n{}{}\n{} {}\n",
        r#"{"time":"1","entity":"e","state":0}"#,
        r#"{ "state" : 1 , "tag" : "x\"}\\" , "n" : { "m" : [ "]" ] } }"#,
        r#"{"entity":"é\\","time":"2","state":1,"tag":"x\"}\\"}"#,
        r#"{"time":"3","entity":"e","state":1}"#,
        r#"{"time":"4","entity":"e","event":"}"}"#,
    );
    let bad = good.replace("\"4\"", "4");
    let cut = &good[..good.len() - 4];
    for data in [good.as_str(), bad.as_str(), cut] {
        let whole = told(read(data.as_bytes()));
        assert_eq!(whole.is_ok(), data == good);
        for size in 1..40 {
            assert_eq!(told(read(Piecewise(data.as_bytes(), size))), whole, "{size}");
        }
    }
}

#[test]
fn what_is_longer_than_the_buffer_is_read_too() {
    let mut data = METADATA.to_owned();
    let name = "n".repeat(CHUNK_BYTES * 5 / 4);
    for time in 0..3 {
        data += &format!("\n{{\"time\":\"{time}\",\"entity\":\"{name}\",\"state\":0}}");
    }
    let statemap = read(data.as_bytes()).unwrap();
    assert_eq!((statemap.entities.len(), statemap.entities[0].data.len()), (1, 3));
    let error = read((data + "\n7").as_bytes()).unwrap_err();
    assert_eq!(
        (error.line, error.byte),
        (5, METADATA.len() as u64 + 3 * (name.len() as u64 + 35) + 1)
    );
}

#[test]
fn the_short_way_takes_only_what_is_quite_ordinary() {
    let (plain, length) = datum(br#"{"state":1,"tag":"t", "entity":"e","time":"007"} {"#).unwrap();
    assert_eq!((plain.time_ns, plain.entity, plain.state, plain.tag), (7, "e", 1, Some("t")));
    assert_eq!(length, 48);
    let (plain, _) = datum(br#"{"time":"0","entity":"","state":0}"#).unwrap();
    assert_eq!((plain.time_ns, plain.tag), (0, None));
    for odd in [
        r#""#,
        r#"{"#,
        r#"{}"#,
        r#"{"time":"1","entity":"e","state":0"#,
        r#"{"time":"1","entity":"e","state":0,}"#,
        r#"{"time":"1","entity":"e","state":01}"#,
        r#"{"time":"1","entity":"e","state":-1}"#,
        r#"{"time":"1","entity":"e","state":1.5}"#,
        r#"{"time":"1","entity":"e","state":1e0}"#,
        r#"{"time":"1","entity":"e","state":4294967296}"#,
        r#"{"time":"1","entity":"e","state":"1"}"#,
        r#"{"time":"1","entity":"e","state":}"#,
        r#"{"time":"","entity":"e","state":0}"#,
        r#"{"time":"+1","entity":"e","state":0}"#,
        r#"{"time":"18446744073709551616","entity":"e","state":0}"#,
        r#"{"time":1,"entity":"e","state":0}"#,
        r#"{"time":"1","time":"2","entity":"e","state":0}"#,
        r#"{"time":"1","entity":"\u0065","state":0}"#,
        "{\"time\":\"1\",\"entity\":\"\n\",\"state\":0}",
        r#"{"time":"1","entity":"e","state":0,"tag":null}"#,
        r#"{"time":"1","entity":"e","state":0,"event":"x"}"#,
        r#"{"time":"1","entity":"e"}"#,
        r#"[{"time":"1","entity":"e","state":0}]"#,
    ] {
        assert_eq!(datum(odd.as_bytes()), None, "{odd}");
    }
    assert_eq!(datum(b"{\"time\":\"1\",\"entity\":\"\xff\",\"state\":0}"), None);
}

/// The fast path and the slow path agree. An escape in the name keeps a record off the fast path.
#[test]
fn both_ways_lead_to_the_same() {
    for fields in [
        r#""time":"1","state":0"#,
        r#""time":"01","state":1,"tag":"t""#,
        r#""time":"1","state":2"#,
        r#""time":"x","state":0"#,
        r#""time":"1""#,
    ] {
        let [short, long] = ["e", "\\u0065"].map(|name| {
            let record = format!("{METADATA}{{\"entity\":\"{name}\",{fields}}}");
            told(read(record.as_bytes()))
        });
        assert_eq!(short, long, "{fields}");
    }
}
