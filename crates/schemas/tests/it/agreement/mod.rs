//! Our schemas and upstream's give the same answer to the same document, but for the narrowings of docs/contracts.md.
//!
//! The documents are upstream's examples and documents made from upstream's schemas, each edited at random. A keyword of
//! upstream's schema counts as hit when an error of its validator names it or, for a keyword that refuses nothing by
//! itself, when it was applied to an instance.

mod generate;
mod keywords;
mod mutate;
mod normal;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use quorum_schemas::{ParseReason, SchemaName, parse, upstream, validate};
use serde_json::{Value as Json, json};

use self::generate::Generator;
use self::keywords::{Kind, Site, escaped, keywords, reach};
use self::mutate::{break_keyword, narrow_edit, valid_edit};
use crate::random::Random;

const SEED: u64 = 0x6a_09_e6_67_f3_bc_c9_08;
/// Mutations for each keyword of a schema; all schemas together get more than [`MUTATIONS`].
const FOR_EACH_KEYWORD: usize = 14;
const MUTATIONS: usize = 10_000;
const HITS: usize = 10;
const VALID_PERCENT: usize = 30;

/// Our schemas that have a twin upstream.
pub(crate) const TWINS: [SchemaName; 13] = [
    SchemaName::WorkUnitV01,
    SchemaName::WorkUnitV02,
    SchemaName::WorkUnitV02Early,
    SchemaName::ResultManifest,
    SchemaName::CandidateReference,
    SchemaName::EvaluatorPlanV01,
    SchemaName::EvaluatorPlanV02,
    SchemaName::EvaluatorPlanV03,
    SchemaName::EvaluatorPlanV04,
    SchemaName::VerificationResult,
    SchemaName::EvidenceReport,
    SchemaName::RunEvidenceReport,
    SchemaName::HumanDecisionRecord,
];

/// Upstream's schema. The early WorkUnit 0.2 has no file of its own: it is the later one without what was added to it.
pub(crate) fn upstream_schema(folder: &Path, name: SchemaName) -> Json {
    let early = name == SchemaName::WorkUnitV02Early;
    let file = if early { SchemaName::WorkUnitV02 } else { name }.as_str();
    let bytes = std::fs::read(folder.join(format!("idkmesh/schemas/{file}.schema.json"))).unwrap();
    let mut schema: Json = serde_json::from_slice(&bytes).unwrap();
    if early {
        let budget = schema["properties"]["budget"].as_object_mut().unwrap();
        assert_eq!(budget.remove("required"), Some(json!(["project_spend_usd_max", "paid_fallback_allowed"])));
        for later in ["project_spend_usd_max", "paid_fallback_allowed"] {
            budget["properties"].as_object_mut().unwrap().remove(later).unwrap();
        }
    }
    schema
}

/// Upstream does not assert `format` (its extra has no date-time checker), so neither does its validator here.
fn upstream_validator(schema: &Json) -> Validator {
    jsonschema::draft202012::options().should_validate_formats(false).build(schema).unwrap()
}

/// What ours refuses and upstream's takes, by the name in docs/contracts.md.
type Narrowings = BTreeMap<&'static str, usize>;

/// Our answer; where only narrowings refuse, their names. Each refusal is taken back by mending the one value that it
/// names, so that a refusal of any other kind is left and told.
fn answer(name: SchemaName, document: &Json) -> Result<BTreeSet<&'static str>, String> {
    let mut document = document.clone();
    let mut narrowed = BTreeSet::new();
    for _ in 0..64 {
        let bytes = serde_json::to_vec(&document).unwrap();
        let value = match parse(&bytes) {
            Ok(value) => value,
            Err(error) => {
                let (narrowing, mended) = match error.reason {
                    ParseReason::TooDeep(_) => ("depth", drop_member(&mut document, "org.example.nest")),
                    ParseReason::TooLarge { .. } => ("document size", halve_largest(&mut document)),
                    _ => return Err(error.to_string()),
                };
                mended.ok_or_else(|| error.to_string())?;
                narrowed.insert(narrowing);
                continue;
            }
        };
        let Err(violations) = validate(name, &value) else { return Ok(narrowed) };
        for violation in violations {
            let slot = document.pointer_mut(&violation.pointer).ok_or_else(|| violation.to_string())?;
            narrowed.insert(mend(slot, &violation.message).ok_or_else(|| violation.to_string())?);
        }
    }
    Err("the mending does not end".to_owned())
}

fn drop_member(document: &mut Json, member: &str) -> Option<()> {
    document.get_mut("extensions")?.as_object_mut()?.remove(member).map(drop)
}

/// Halves the longest text, or the longest list where no text is long.
fn halve_largest(document: &mut Json) -> Option<()> {
    fn longest(at: String, node: &Json, out: &mut Vec<(usize, String)>) {
        match node {
            Json::String(text) => out.push((text.len(), at)),
            Json::Array(items) => {
                out.push((items.len(), at.clone()));
                items.iter().enumerate().for_each(|(index, item)| longest(format!("{at}/{index}"), item, out));
            }
            Json::Object(members) => {
                members.iter().for_each(|(key, member)| longest(format!("{at}/{}", escaped(key)), member, out));
            }
            _ => {}
        }
    }
    let mut lengths = Vec::new();
    longest(String::new(), document, &mut lengths);
    match document.pointer_mut(&lengths.into_iter().max()?.1)? {
        Json::String(text) => *text = text.chars().take(text.chars().count() / 2).collect(),
        Json::Array(items) => items.truncate(items.len() / 2),
        _ => return None,
    }
    Some(())
}

fn mend(slot: &mut Json, message: &str) -> Option<&'static str> {
    let limit = || message.strip_prefix("must have at most ")?.split(' ').next()?.parse::<usize>().ok();
    match slot {
        Json::Number(number) if message.starts_with("must be of type integer") => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
            *slot = json!(float as i64);
            Some("integer token")
        }
        Json::String(text) if message.starts_with("must be a date-time") => {
            *text = "2026-01-31T12:00:00Z".to_owned();
            Some("real timestamp")
        }
        Json::String(text) => {
            *text = text.chars().take(limit()?).collect();
            Some("text length")
        }
        Json::Array(items) => {
            items.truncate(limit()?);
            Some("list length")
        }
        _ => None,
    }
}

/// The keywords that an error names; a choice also names what its branches miss.
fn named(error: &ValidationError<'_>, out: &mut BTreeSet<String>) {
    out.insert(error.schema_path().to_string());
    if let ValidationErrorKind::OneOfNotValid { context } = error.kind() {
        context.iter().flatten().for_each(|inner| named(inner, out));
    }
}

/// A valid document to start from, and where each keyword of the schema applies in it.
struct Base {
    document: Json,
    sites: Vec<Site>,
}

fn bases(schema: &Json, theirs: &Validator, examples: &[Json], random: &mut Random) -> Vec<Base> {
    let made: Vec<Json> = [100, 100, 100, 100, 60, 60, 30, 0]
        .map(|fullness| Generator { root: schema, random: &mut *random, fullness }.value(schema))
        .into();
    made.iter().for_each(|document| assert!(theirs.is_valid(document), "made, and not valid: {document}"));
    let valid = examples.iter().filter(|document| theirs.is_valid(document)).cloned();
    valid.chain(made).map(|document| Base { sites: sites(schema, &document), document }).collect()
}

/// Where the schema speaks of a valid document; of a choice, only the branch that it takes.
fn sites(schema: &Json, document: &Json) -> Vec<Site> {
    let mut sites = reach(schema, document).sites;
    for (index, branch) in schema["oneOf"].as_array().into_iter().flatten().enumerate() {
        if !jsonschema::is_valid(branch, document) {
            sites.retain(|site| !site.schema.starts_with(&format!("/oneOf/{index}")));
        }
    }
    sites
}

/// What was seen of one schema.
#[derive(Debug, Default)]
struct Tally {
    mutations: usize,
    valid: usize,
    narrowings: Narrowings,
    hits: BTreeMap<String, usize>,
}

struct Subject<'a> {
    name: SchemaName,
    schema: &'a Json,
    theirs: Validator,
    kinds: BTreeMap<String, Kind>,
    bases: Vec<Base>,
    tally: Tally,
}

impl Subject<'_> {
    fn mutate(&mut self, random: &mut Random) {
        let any = random.index(self.bases.len());
        let mut document = self.bases[any].document.clone();
        let sites = &self.bases[any].sites;
        match random.below(20) {
            0..7 => (0..=random.below(3)).for_each(|_| valid_edit(self.schema, sites, &mut document, random)),
            7 => narrow_edit(self.schema, sites, &mut document, random),
            _ => {
                let (keyword, at, instance) = self.target(None, random);
                document = self.bases[at].document.clone();
                break_keyword(self.schema, &keyword, &instance, &mut document, random);
                if random.chance(30) {
                    let (keyword, _, instance) = self.target(Some(at), random);
                    break_keyword(self.schema, &keyword, &instance, &mut document, random);
                }
            }
        }
        self.judge(&document);
    }

    /// A keyword that was hit least, a document in which it applies (`within`, if given) and where.
    fn target(&self, within: Option<usize>, random: &mut Random) -> (String, usize, String) {
        let bases: Vec<usize> = within.map_or_else(|| (0..self.bases.len()).collect(), |at| vec![at]);
        let hits = |place: &String| self.tally.hits.get(place).copied().unwrap_or_default();
        let mut places: Vec<&String> =
            self.kinds.iter().filter(|(_, kind)| **kind == Kind::Refuses).map(|(place, _)| place).collect();
        // Equal ones stand in no order.
        places.sort_by_cached_key(|place| (hits(place), random.next()));
        for keyword in places {
            let (schema, _) = keyword.rsplit_once('/').unwrap();
            let applies = |at: &usize| {
                let at = *at;
                self.bases[at].sites.iter().filter(|site| site.schema == schema).map(move |site| (at, site))
            };
            let all: Vec<(usize, &Site)> = bases.iter().flat_map(applies).collect();
            if !all.is_empty() {
                let (at, site) = all[random.index(all.len())];
                return (keyword.clone(), at, site.instance.clone());
            }
            assert!(within.is_some(), "no document reaches {keyword} of {}", self.name.as_str());
        }
        unreachable!("the root of every document is reached")
    }

    fn judge(&mut self, document: &Json) {
        let mut hit = reach(self.schema, document).applied;
        hit.retain(|place| self.kinds.get(place) == Some(&Kind::Leads));
        let errors: Vec<_> = self.theirs.iter_errors(document).collect();
        errors.iter().for_each(|error| named(error, &mut hit));
        for place in hit {
            assert!(self.kinds.contains_key(&place), "{place} is no keyword of {}", self.name.as_str());
            *self.tally.hits.entry(place).or_default() += 1;
        }
        self.tally.mutations += 1;
        let ours = answer(self.name, document);
        let shown = || document.to_string().chars().take(4_000).collect::<String>();
        if errors.is_empty() {
            self.tally.valid += 1;
            let narrowed =
                ours.unwrap_or_else(|why| panic!("only ours refuses a {}: {why}\n{}", self.name.as_str(), shown()));
            narrowed.into_iter().for_each(|narrowing| *self.tally.narrowings.entry(narrowing).or_default() += 1);
        } else {
            let valid =
                parse(&serde_json::to_vec(document).unwrap()).is_ok_and(|value| validate(self.name, &value).is_ok());
            assert!(!valid, "only upstream's refuses a {}: {}\n{}", self.name.as_str(), errors[0], shown());
        }
    }
}

fn examples(folder: &Path) -> Vec<Json> {
    let mut files = Vec::new();
    crate::schemas::json_files(&folder.join("idkmesh/examples"), &mut files);
    files.sort();
    files.iter().map(|file| serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()).collect()
}

fn tally(folder: &Path, name: SchemaName, seed: u64, examples: &[Json]) -> Tally {
    let mut random = Random(seed);
    let schema = upstream_schema(folder, name);
    let theirs = upstream_validator(&schema);
    let bases = bases(&schema, &theirs, examples, &mut random);
    let kinds = keywords(&schema);
    let mut subject = Subject { name, schema: &schema, theirs, kinds, bases, tally: Tally::default() };
    for _ in 0..FOR_EACH_KEYWORD * subject.kinds.len() {
        subject.mutate(&mut random);
    }
    let Subject { kinds, mut tally, .. } = subject;
    for place in kinds.into_keys() {
        tally.hits.entry(place).or_default();
    }
    tally
}

#[test]
fn ten_thousand_mutations_get_the_same_answer_from_ours_and_from_upstreams() {
    let Some(folder) = upstream::path() else { return };
    let examples = examples(&folder);
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let (folder, examples) = (&folder, &examples);
        let start = |(seed, name)| scope.spawn(move || tally(folder, name, seed, examples));
        let running: Vec<_> = (SEED..).zip(TWINS).map(start).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let (mut all, mut valid, mut narrowings) = (0, 0, Narrowings::new());
    for (name, tally) in TWINS.iter().zip(tallies) {
        let (fewest, least) = tally.hits.iter().min_by_key(|(_, hits)| **hits).unwrap();
        eprintln!(
            "{}: {} keywords, {} mutations, {} % valid, fewest hits {least} ({fewest}), narrowed {:?}",
            name.as_str(),
            tally.hits.len(),
            tally.mutations,
            tally.valid * 100 / tally.mutations,
            tally.narrowings,
        );
        assert!(*least >= HITS, "{}: {fewest} was hit {least} times", name.as_str());
        assert!(tally.valid * 100 >= tally.mutations * VALID_PERCENT, "{}: too few valid", name.as_str());
        (all, valid) = (all + tally.mutations, valid + tally.valid);
        tally.narrowings.iter().for_each(|(narrowing, count)| *narrowings.entry(narrowing).or_default() += count);
    }
    eprintln!("all: {all} mutations, {} % valid, narrowed {narrowings:?}", valid * 100 / all);
    assert!(all >= MUTATIONS, "only {all} mutations");
    let seen: Vec<&str> = narrowings.keys().copied().collect();
    assert_eq!(seen, ["depth", "document size", "integer token", "list length", "real timestamp", "text length"]);
}
