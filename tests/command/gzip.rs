//! Data that is compressed with gzip is read like plain data, whatever the name of the file.

use std::fs;

use super::binary::{folder, run, run_with, tasks, workers};

/// Returns a member of a gzip file.
pub(super) fn packed(data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    bytes.extend(miniz_oxide::deflate::compress_to_vec(data, 6));
    bytes.extend(crc(data).to_le_bytes());
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes
}

/// Returns the CRC-32, computed bit by bit.
fn crc(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in data {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[test]
fn it_is_unpacked_wherever_it_comes_from() {
    let folder = folder("gzip");
    let (tasks, workers) = (tasks(), workers());
    fs::write(folder.join("tasks.json"), &tasks).unwrap();
    fs::write(folder.join("workers.json"), &workers).unwrap();
    let report = run(&folder, "report tasks.json workers.json").stdout();
    run(&folder, "render tasks.json workers.json -o page.html").stdout();
    let page = fs::read(folder.join("page.html")).unwrap();
    // The name is not that of a gzip file.
    fs::write(folder.join("tasks.txt"), packed(tasks.as_bytes())).unwrap();
    fs::write(folder.join("page.html.gz"), packed(&page)).unwrap();
    // The members are cut within a record.
    let (a, b) = workers.as_bytes().split_at(workers.len() / 2);
    let members = [packed(a), packed(b), packed(b"")].concat();
    fs::write(folder.join("workers.json.gz"), &members).unwrap();
    assert_eq!(run(&folder, "report tasks.txt workers.json.gz").stdout(), report);
    assert_eq!(run_with(&folder, "report tasks.json -", &members).stdout(), report);
    assert_eq!(run(&folder, "report page.html.gz").stdout(), report);
    run(&folder, "render tasks.txt workers.json.gz -o again.html").stdout();
    assert!(fs::read(folder.join("again.html")).unwrap() == page);
    let said = run(&folder, "check tasks.txt").stdout();
    assert_eq!(said, "tasks.txt: ok, 2 entities, 9 changes of state\n");
}

#[test]
fn what_is_packed_is_checked_as_it_is() {
    let folder = folder("gzip_bad");
    let data = tasks().replace("\"state\":3", "\"state\":9");
    fs::write(folder.join("bad.json"), &data).unwrap();
    fs::write(folder.join("bad.json.gz"), packed(data.as_bytes())).unwrap();
    let ended = run(&folder, "check bad.json.gz");
    let plain = run(&folder, "check bad.json");
    assert_eq!((ended.status, plain.status), (Some(1), Some(1)));
    assert_eq!(ended.stderr.replace(".gz", ""), plain.stderr);
}
