//! One form of ZIP: golden bytes, other readers, hostile archives.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read as _, Write as _};
use std::os::unix::fs::symlink;

use quorum_schemas::Digest;
use quorum_verifier::{bundle, tree};

use crate::world::write;

fn files(names: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    names.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

fn sample() -> BTreeMap<String, Vec<u8>> {
    files(&[("b/ü.txt", "hello"), ("a", ""), ("b.txt", "x")])
}

#[test]
fn the_bytes_of_a_bundle_are_golden() {
    let bytes = bundle::zip(&sample()).unwrap();
    let expected = concat!(
        "504b03040a00000800000000210000000000000000000000000001000000",
        "61",
        "504b03040a000008000000002100",
        "8316dc8c",
        "0100000001000000",
        "05000000",
        "622e747874",
        "78",
        "504b03040a000008000000002100",
        "86a61036",
        "0500000005000000",
        "08000000",
        "622fc3bc2e747874",
        "68656c6c6f",
        "504b01021e030a00000800000000210000000000000000000000000001000000",
        "00000000000000",
        "00a481",
        "00000000",
        "61",
        "504b01021e030a000008000000002100",
        "8316dc8c",
        "0100000001000000",
        "05000000",
        "00000000000000",
        "00a481",
        "1f000000",
        "622e747874",
        "504b01021e030a000008000000002100",
        "86a61036",
        "0500000005000000",
        "08000000",
        "00000000000000",
        "00a481",
        "43000000",
        "622fc3bc2e747874",
        "504b0506",
        "00000000",
        "0300",
        "0300",
        "98000000",
        "6e000000",
        "0000",
    );
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, expected);
}

#[test]
fn another_reader_sees_the_same_files() {
    let bytes = bundle::zip(&sample()).unwrap();
    assert_eq!(bundle::read(&bytes).unwrap(), sample());
    let mut archive = zip::ZipArchive::new(Cursor::new(&bytes)).unwrap();
    assert_eq!(archive.len(), 3);
    for (name, text) in sample() {
        let mut file = archive.by_name(&name).unwrap();
        assert_eq!(file.unix_mode(), Some(0o100_644));
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        assert_eq!(read, text);
    }
    let empty = bundle::zip(&BTreeMap::new()).unwrap();
    assert_eq!(bundle::read(&empty).unwrap(), BTreeMap::new());
}

#[test]
fn any_flipped_byte_is_refused_or_another_content() {
    let bytes = bundle::zip(&sample()).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            assert!(bundle::read(&flipped).is_err(), "byte {at} bit {bit}");
        }
    }
    for cut in 0..bytes.len() {
        assert!(bundle::read(&bytes[..cut]).is_err());
    }
}

#[test]
fn hostile_zips_are_refused() {
    type Options = zip::write::SimpleFileOptions;
    let stored = || Options::default().compression_method(zip::CompressionMethod::Stored);
    let build = |name: &str| {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file(name, stored()).unwrap();
        writer.write_all(b"x").unwrap();
        writer.finish().unwrap().into_inner()
    };
    // Another tool's form, whatever the name.
    for name in ["a", "../a", "/a", "a/../../b", "a//b", "./a", "a/"] {
        assert!(bundle::read(&build(name)).is_err(), "{name}");
    }
    let good = bundle::zip(&files(&[("a", "x"), ("b", "y")])).unwrap();
    let replace = |from: &[u8], to: &[u8]| {
        assert_eq!(from.len(), to.len());
        let mut bytes = good.clone();
        for at in 0..bytes.len() - from.len() {
            if bytes[at..].starts_with(from) {
                bytes[at..at + to.len()].copy_from_slice(to);
            }
        }
        bytes
    };
    for (name, bytes) in [
        ("duplicate", replace(b"b", b"a")),
        ("out of order", replace(b"a", b"c")),
        ("climbs", replace(b"b", b".")),
        ("absolute", replace(b"b", b"/")),
        ("NUL", replace(b"b", b"\0")),
        ("not UTF-8", replace(b"b", b"\xff")),
        ("device", replace(&(0o100_644_u32 << 16).to_le_bytes(), &(0o060_644_u32 << 16).to_le_bytes())),
        ("setuid", replace(&(0o100_644_u32 << 16).to_le_bytes(), &(0o104_755_u32 << 16).to_le_bytes())),
        ("symlink in a bundle", replace(&(0o100_644_u32 << 16).to_le_bytes(), &(0o120_777_u32 << 16).to_le_bytes())),
        ("trailing", [good.as_slice(), b"x"].concat()),
        ("leading", [b"x", good.as_slice()].concat()),
        ("twice", [good.as_slice(), &good].concat()),
        ("deflate", replace(&[10, 0, 0, 8, 0, 0], &[10, 0, 0, 8, 8, 0])),
        ("count that lies", {
            let mut bytes = good.clone();
            let end = bytes.len() - 22;
            bytes[end + 8..end + 12].copy_from_slice(&[0xff; 4]);
            bytes
        }),
    ] {
        assert!(bundle::read(&bytes).is_err(), "{name}");
    }
    let nested = bundle::zip(&files(&[("a", "x"), ("a/b", "y")])).unwrap();
    assert!(bundle::read(&nested).is_err(), "a file that is a directory");
}

#[test]
fn a_bomb_is_refused_by_its_size_alone() {
    let zeros = vec![0; (32 << 20) + 1];
    assert_eq!(bundle::read(&zeros).unwrap_err().code(), "bundle_too_large");
    let big = BTreeMap::from([("a".to_owned(), zeros)]);
    assert_eq!(bundle::zip(&big).unwrap_err().code(), "bundle_too_large");
    let many: BTreeMap<String, Vec<u8>> = (0..2000).map(|nth| (nth.to_string(), Vec::new())).collect();
    assert_eq!(bundle::zip(&many).unwrap_err().code(), "bundle_too_large");
}

#[test]
fn a_candidate_directory_survives_the_way_through_a_zip() {
    let root = tempfile::tempdir().unwrap();
    let source = root.path().join("source");
    fs::create_dir(&source).unwrap();
    write(&source, "a/b", "1");
    write(&source, "run", "2");
    write(&source, "Run", "case");
    let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o711);
    fs::set_permissions(source.join("run"), mode).unwrap();
    symlink("../run", source.join("a/link")).unwrap();
    let bytes = bundle::zip_dir(&source).unwrap();
    assert_eq!(Digest::of(&bytes), bundle::zip_dir_digest(&source).unwrap());
    let dest = root.path().join("dest");
    bundle::unzip_candidate(&bytes, &dest).unwrap();
    assert_eq!(tree::list(&dest).unwrap(), tree::list(&source).unwrap());
    assert_eq!(bundle::zip_dir(&dest).unwrap(), bytes);
    assert!(bundle::unzip_candidate(&bytes, &dest).is_err(), "never over something");
    assert!(bundle::read(&bytes).is_err(), "a candidate with links is no evidence bundle");
}

#[test]
fn links_of_a_candidate_stay_inside() {
    for (name, at, target, good) in [
        ("sibling", "a", "b", true),
        ("up and in", "d/a", "../b", true),
        ("to the root", "d/a", "..", true),
        ("absolute", "a", "/etc/passwd", false),
        ("climbs", "a", "../x", false),
        ("climbs from deep", "d/a", "../../x", false),
        // `d` may be a link itself: `d/..` is not what it says.
        ("climbs after a name", "a", "d/../../x", false),
        ("climbs after a name but not out", "a", "d/../x", false),
    ] {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "b", "");
        fs::create_dir_all(root.path().join("d")).unwrap();
        symlink(target, root.path().join(at)).unwrap();
        assert_eq!(bundle::zip_dir(root.path()).is_ok(), good, "{name}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn every_set_of_files_has_one_zip_and_comes_back(
        files in proptest::collection::btree_map("[a-z]{1,3}(/[A-Zü]{1,2}){0,2}", proptest::collection::vec(0_u8.., 0..40), 0..8)
    ) {
        let nested = files.keys().any(|a| files.keys().any(|b| b.starts_with(&format!("{a}/"))));
        let bytes = bundle::zip(&files).unwrap();
        match bundle::read(&bytes) {
            Ok(read) => proptest::prop_assert_eq!(read, files),
            Err(_) => proptest::prop_assert!(nested),
        }
    }

    #[test]
    fn reading_noise_never_panics(mut noise in proptest::collection::vec(0_u8.., 0..200)) {
        let _ = bundle::read(&noise);
        noise.splice(0..0, *b"PK\x03\x04");
        noise.extend(*b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x2e\0\0\0\0\0\0\0\0\0");
        let _ = bundle::read(&noise);
    }
}
