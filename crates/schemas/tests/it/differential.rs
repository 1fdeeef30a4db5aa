//! C1 against the real CPython: `json` and `hashlib` judge the same generated documents.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use quorum_schemas::{C1Digest, Digest, parse};

use crate::random::Random;

const DOCUMENTS: u64 = 100_000;
const BATCH: u64 = 2_000;
const SEED: u64 = 0x51_0e_52_7f_ad_e6_82_d1;

/// Reads batches of length-prefixed documents; answers one line for each: upstream's digest or `-`, and the class that a
/// strict reader sees. A document has at most one defect, so that the class does not hang on the order of reading.
const JUDGE: &str = r#"
import hashlib, json, struct, sys

def judge(raw):
    seen = set()
    def pairs(items):
        if len({key for key, _ in items}) != len(items):
            seen.add("json_duplicate_key")
        return dict(items)
    def constant(word):
        seen.add("json_non_finite")
        return float(word)
    def number(word):
        value = float(word)
        if value in (float("inf"), float("-inf")):
            seen.add("json_number_overflow")
        return value
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return "-", "json_not_utf8"
    if text.startswith("\ufeff"):
        return "-", "json_bom"
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_float=number)
    except json.JSONDecodeError as error:
        return "-", "json_trailing_bytes" if error.msg == "Extra data" else "json_syntax"
    except ValueError:
        return "-", "json_integer_too_long"
    def depth(node):
        level, layer = 0, [node]
        while layer := [item for item in layer if isinstance(item, (dict, list))]:
            level += 1
            layer = [child for item in layer for child in (item.values() if isinstance(item, dict) else item)]
        return level
    if depth(value) > 64:
        seen.add("json_too_deep")
    try:
        canonical = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = "sha256:" + hashlib.sha256(canonical.encode("utf-8")).hexdigest()
    except UnicodeEncodeError:
        return "-", "json_lone_surrogate"
    return digest, ",".join(sorted(seen)) or "ok"

source = sys.stdin.buffer
while head := source.read(4):
    answers = []
    for _ in range(struct.unpack("<I", head)[0]):
        size = struct.unpack("<I", source.read(4))[0]
        answers.append(" ".join(judge(source.read(size))))
    sys.stdout.write("\n".join(answers) + "\n")
    sys.stdout.flush()
"#;

struct Python {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Python {
    /// `None` outside CI where no python3 is installed; says so.
    fn start() -> Option<Self> {
        let spawned = Command::new("python3")
            .args(["-I", "-S", "-c", JUDGE])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        match spawned {
            Ok(mut child) => {
                let stdin = child.stdin.take().unwrap();
                let stdout = BufReader::new(child.stdout.take().unwrap());
                Some(Self { child, stdin, stdout })
            }
            Err(error) => {
                assert!(std::env::var_os("CI").is_none(), "python3 is missing, and CI compares with it: {error}");
                eprintln!("skipped: no python3 here ({error}), so nothing is compared with CPython");
                None
            }
        }
    }

    /// The whole batch is written before the first answer is read; the judge answers only when it has the batch.
    fn judge(&mut self, documents: &[Vec<u8>]) -> Vec<(String, String)> {
        let size = |length: usize| u32::try_from(length).unwrap().to_le_bytes();
        let mut batch = size(documents.len()).to_vec();
        for document in documents {
            batch.extend(size(document.len()));
            batch.extend(document);
        }
        self.stdin.write_all(&batch).unwrap();
        self.stdin.flush().unwrap();
        let mut line = String::new();
        let mut answer = || {
            line.clear();
            self.stdout.read_line(&mut line).unwrap();
            let (digest, class) = line.trim_end().split_once(' ').unwrap();
            (digest.to_owned(), class.to_owned())
        };
        documents.iter().map(|_| answer()).collect()
    }

    fn stop(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success());
    }
}

/// Writes one document. White space, escapes and forms of numbers vary; object keys are distinct.
struct Writer<'a> {
    random: &'a mut Random,
    out: String,
    left: u64,
}

impl Writer<'_> {
    fn value(&mut self, depth: u64) {
        self.space();
        self.left = self.left.saturating_sub(1);
        match self.random.below(if depth == 0 || self.left == 0 { 6 } else { 10 }) {
            0 => self.out.push_str(self.random.pick(&["null", "true", "false"])),
            1 | 2 => self.integer(),
            3 | 4 => self.float(),
            5 => self.string(),
            6 | 7 => self.array(depth - 1),
            _ => self.object(depth - 1),
        }
        self.space();
    }

    fn space(&mut self) {
        if self.random.below(8) == 0 {
            self.out.push_str(self.random.pick(&[" ", "\n", "\t", "\r\n", "  "]));
        }
    }

    fn array(&mut self, depth: u64) {
        self.out.push('[');
        for index in 0..self.random.below(5) {
            if index > 0 {
                self.out.push(',');
            }
            self.value(depth);
        }
        self.space();
        self.out.push(']');
    }

    fn object(&mut self, depth: u64) {
        let mut seen = Vec::new();
        self.out.push('{');
        for _ in 0..self.random.below(6) {
            let key = self.text();
            if seen.contains(&key) {
                continue;
            }
            if !seen.is_empty() {
                self.out.push(',');
            }
            self.space();
            self.quoted(&key);
            seen.push(key);
            self.space();
            self.out.push(':');
            self.value(depth);
        }
        self.space();
        self.out.push('}');
    }

    fn integer(&mut self) {
        if self.random.below(3) == 0 {
            self.out.push('-');
        }
        let digits = match self.random.below(40) {
            0 => 1 + self.random.below(4_300),
            1..=9 => 15 + self.random.below(30),
            _ => 1 + self.random.below(10),
        };
        match self.random.below(12) {
            0 => self.out.push('0'),
            1 => self.out.push_str(self.random.pick(&[
                "9007199254740993",
                "9223372036854775807",
                "9223372036854775808",
                "18446744073709551615",
                "18446744073709551616",
            ])),
            _ => {
                let text = self.random.digits(digits);
                self.out.push_str(&text);
            }
        }
    }

    fn float(&mut self) {
        match self.random.below(8) {
            // Beside powers of two the gaps are uneven; a few binary places make ties between decimals.
            6 => {
                let exponent = self.random.below(2_046 + 52);
                let power = if exponent < 52 { 1 << exponent } else { (exponent - 51) << 52 };
                let number = f64::from_bits(power + self.random.below(3) - 1);
                write!(self.out, "{number:.25e}").unwrap();
            }
            7 => {
                let number =
                    (self.random.next() >> self.random.below(60)) as f64 / 2_f64.powi(self.random.below(8) as i32);
                write!(self.out, "{number:?}").unwrap();
            }
            // Any bits at all, as Rust and as hand-written forms.
            0 | 1 => {
                let number = f64::from_bits(self.random.next());
                let number = if number.is_finite() { number } else { 0.5 };
                if self.random.below(2) == 0 {
                    write!(self.out, "{number:e}").unwrap();
                    if !self.out.ends_with(|last: char| last.is_ascii_digit()) {
                        self.out.push('0');
                    }
                } else {
                    write!(self.out, "{number:?}").unwrap();
                }
            }
            // Near the borders of the notations and of the range.
            2 => self.out.push_str(self.random.pick(&[
                "-0.0",
                "0.0",
                "0e0",
                "-0E-0",
                "1e-400",
                "5e-324",
                "4.9e-324",
                "2.4703282292062327e-324",
                "2.4703282292062328e-324",
                "2.2250738585072014e-308",
                "2.2250738585072011e-308",
                "1.7976931348623157e308",
                "1.7976931348623158e+308",
                "9999999999999998.0",
                "9999999999999999.0",
                "1e15",
                "1e16",
                "1e-4",
                "1e-5",
                "0.0001",
                "0.00009999999999999999",
                "123456789012345680.0",
                "9007199254740993.0",
            ])),
            3 => {
                let (whole, part) = (1 + self.random.below(25), 1 + self.random.below(25));
                let text = format!("{}.{}", self.random.digits(whole), self.random.digits(part));
                self.out.push_str(&text);
            }
            // Subnormals and other small things.
            4 => {
                let digits = 1 + self.random.below(18);
                let text = format!("0.{}e-{}", self.random.digits(digits), 290 + self.random.below(40));
                self.out.push_str(&text);
            }
            _ => {
                let digits = 1 + self.random.below(4);
                let mark = self.random.pick(&["e", "E", "e+", "E+", "e-", "E-", "e0", "e-0"]);
                let text = format!("{}{mark}{}", self.random.digits(digits), self.random.below(40));
                self.out.push_str(&text);
            }
        }
    }

    fn string(&mut self) {
        let text = self.text();
        self.quoted(&text);
    }

    fn text(&mut self) -> String {
        let length = self.random.below(7);
        (0..length).map(|_| self.character()).collect()
    }

    fn character(&mut self) -> char {
        let code = match self.random.below(10) {
            0 => self.random.below(0x20),
            1 => 0x7f + self.random.below(0x21),
            2 => 0x0300 + self.random.below(0x700),
            3 => 0x2000 + self.random.below(0x100),
            // Where UTF-16 order and code point order part.
            4 => 0xe000 + self.random.below(0x2000),
            5 => 0x1_0000 + self.random.below(0x10_0000),
            6 => u64::from(b"\"\\/\x08\x0c\n\r\t"[self.random.below(8) as usize]),
            _ => 0x20 + self.random.below(0x5f),
        };
        char::from_u32(u32::try_from(code).unwrap()).unwrap_or('\u{fffd}')
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            let short = match character {
                '"' => Some("\\\""),
                '\\' => Some("\\\\"),
                '/' => Some("\\/"),
                '\u{8}' => Some("\\b"),
                '\u{c}' => Some("\\f"),
                '\n' => Some("\\n"),
                '\r' => Some("\\r"),
                '\t' => Some("\\t"),
                _ => None,
            };
            let must = matches!(character, '"' | '\\' | '\0'..='\u{1f}');
            match (self.random.below(4), short) {
                (0 | 1, Some(short)) => self.out.push_str(short),
                (2, _) => self.hex(character),
                _ if must => self.hex(character),
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }

    fn hex(&mut self, character: char) {
        let upper = self.random.below(2) == 0;
        for unit in character.encode_utf16(&mut [0; 2]) {
            let text = if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
            self.out.push_str(&text);
        }
    }
}

/// One document with at most one defect.
fn document(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer { out: String::new(), left: 40, random };
    let depth = writer.random.below(8);
    writer.value(depth);
    let inner = writer.out;
    let wrapped = |open: &str, close: &str, times: u64| {
        let times = usize::try_from(times).unwrap();
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let text = match random.below(40) {
        0 => format!("[{inner},{}]", random.pick(&["NaN", "Infinity", "-Infinity"])),
        1 => format!("{{\"a\":{inner},\"\\u0061\":{inner}}}"),
        2 => format!("[{inner},\"{}\"]", random.pick(&["\\ud800", "x\\uDFFF", "\\ud800\\u0041", "\\ud83d\\ud83d"])),
        3 => format!("[{}{},{inner}]", random.pick(&["", "-"]), random.pick(&["1e400", "1.8e308", "2E+308"])),
        4 => format!("{inner}{}", random.pick(&[" 1", "]", "x", ",", "null"])),
        5 => format!("\u{feff}{inner}"),
        6 => {
            let digits = 4_301 + random.below(50);
            format!("[{inner},{}]", random.digits(digits))
        }
        7 => format!(
            "[{inner},{}]",
            random.pick(&["01", "1.", ".5", "+1", "'a'", "nul", "\"\\x\"", "\"\t\"", "", "--1"])
        ),
        8 => {
            let mut bytes = format!("[{inner},\"x\"]").into_bytes();
            let at = bytes.len() - 3;
            bytes[at] = *random.pick(&[&[0xff_u8], &[0xc0], &[0x80], &[0xed]]).first().unwrap();
            return bytes;
        }
        9 => wrapped("[", "]", 65 + random.below(10)),
        10 | 11 => {
            let times = 40 + random.below(15);
            if random.below(2) == 0 { wrapped("[", "]", times) } else { wrapped("{\"k\":", "}", times) }
        }
        12 => {
            let end = inner.char_indices().map(|(at, _)| at).nth(inner.chars().count() / 2).unwrap_or(0);
            // A cut document may by chance be whole, or hold a half of a surrogate pair: both sides then say so.
            inner[..end].to_owned()
        }
        _ => inner,
    };
    text.into_bytes()
}

#[test]
fn a_hundred_thousand_documents_agree_with_cpython() {
    let Some(mut python) = Python::start() else { return };
    let seed = std::env::var("QUORUM_SEED").map_or(SEED, |seed| seed.parse().unwrap());
    eprintln!("seed {seed} (set QUORUM_SEED to repeat)");
    let mut random = Random(seed);
    let mut classes: BTreeMap<String, u64> = BTreeMap::new();
    for _ in 0..DOCUMENTS / BATCH {
        let documents: Vec<Vec<u8>> = (0..BATCH).map(|_| document(&mut random)).collect();
        for (document, (digest, class)) in documents.iter().zip(python.judge(&documents)) {
            let shown = String::from_utf8_lossy(document);
            match parse(document) {
                Ok(value) => {
                    assert_eq!(class, "ok", "we read what CPython calls {class} (seed {seed}): {shown:?}");
                    assert_eq!(Digest::c1(&value).to_string(), digest, "seed {seed}: {shown:?}");
                    let straight = C1Digest::of_document(document).unwrap();
                    assert_eq!(straight.to_string(), digest, "seed {seed}, without a tree: {shown:?}");
                }
                Err(refusal) => {
                    assert_eq!(C1Digest::of_document(document).unwrap_err(), refusal, "seed {seed}: {shown:?}");
                    // At the top level CPython reads the number before the cut and calls `e` of `1e` extra data.
                    let cut_number =
                        class == "json_trailing_bytes" && shown.trim_end().ends_with(['.', 'e', 'E', '+', '-']);
                    let code = refusal.reason.code();
                    assert!(
                        code == class || cut_number && code == "json_syntax",
                        "seed {seed}: {class}, not {refusal}: {shown:?}"
                    );
                }
            }
            *classes.entry(class).or_default() += 1;
        }
    }
    python.stop();
    eprintln!("{classes:?}");
    for code in ["json_non_finite", "json_duplicate_key", "json_lone_surrogate", "json_number_overflow", "json_bom"]
        .into_iter()
        .chain(["json_trailing_bytes", "json_integer_too_long", "json_syntax", "json_not_utf8", "json_too_deep"])
    {
        assert!(classes.get(code).is_some_and(|count| *count > 500), "too few {code}: {classes:?}");
    }
    assert!(classes["ok"] > DOCUMENTS / 2, "{classes:?}");
}
