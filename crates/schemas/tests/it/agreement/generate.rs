//! Documents made from a schema: valid ones by construction, as full as asked.

use serde_json::{Map, Value as Json, json};

use super::keywords::holds;
use crate::random::Random;

/// Makes values that follow a schema of upstream's.
pub(crate) struct Generator<'a> {
    pub(crate) root: &'a Json,
    pub(crate) random: &'a mut Random,
    /// How many of 100 optional members are written.
    pub(crate) fullness: u64,
}

impl Generator<'_> {
    pub(crate) fn value(&mut self, schema: &Json) -> Json {
        if let Some(target) = schema.get("$ref").and_then(Json::as_str) {
            let root = self.root;
            return self.value(root.pointer(target.strip_prefix('#').unwrap()).unwrap());
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        for choice in ["enum", "oneOf"] {
            if let Some(options) = schema.get(choice).and_then(Json::as_array) {
                let one = &options[self.random.index(options.len())];
                return if choice == "enum" { one.clone() } else { self.value(one) };
            }
        }
        let kind = match &schema["type"] {
            Json::String(kind) => kind.clone(),
            Json::Array(kinds) => kinds[self.random.index(kinds.len())].as_str().unwrap().to_owned(),
            other => panic!("no type in {schema}: {other}"),
        };
        match kind.as_str() {
            "null" => Json::Null,
            "boolean" => json!(self.random.chance(50)),
            "integer" => json!(schema.get("minimum").and_then(Json::as_u64).unwrap_or(0) + self.integer()),
            "number" => self.number(schema),
            "string" => json!(self.string(schema)),
            "array" => self.array(schema),
            "object" => self.object(schema),
            other => panic!("the type {other}"),
        }
    }

    fn integer(&mut self) -> u64 {
        match self.random.below(10) {
            0 => 0,
            1 => self.random.next() >> 12,
            _ => self.random.below(1000),
        }
    }

    fn number(&mut self, schema: &Json) -> Json {
        let least = schema.get("minimum").and_then(Json::as_u64).unwrap_or(0);
        let most = schema.get("maximum").and_then(Json::as_u64);
        match self.random.below(4) {
            0 => json!(least),
            1 => json!(most.unwrap_or(least + 5)),
            2 => json!(least as f64),
            _ => json!(least as f64 + self.random.below(1_000) as f64 / 1_024.0),
        }
    }

    pub(crate) fn string(&mut self, schema: &Json) -> String {
        let hex = |random: &mut Random, count: u64| -> String {
            (0..count).map(|_| random.pick(&["0", "1", "2", "3", "7", "9", "a", "c", "f"])).collect()
        };
        // Upstream writes the end of a pattern in an old and in a hardened form; both mean the end of the text.
        let pattern = schema.get("pattern").and_then(Json::as_str).map(|pattern| pattern.trim_end_matches("(?!\n)"));
        match pattern {
            Some("^sha256:[0-9a-f]{64}$") => format!("sha256:{}", hex(self.random, 64)),
            Some("^[a-z0-9][a-z0-9._/-]{2,127}$") => {
                let length = *self.random.pick(&[&2_u64, &2, &10, &127]);
                let rest: String =
                    (0..length).map(|_| self.random.pick(&["a", "z", "0", ".", "_", "/", "-"])).collect();
                format!("q{rest}")
            }
            Some("^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$") => self.random.pick(&["a/b", "Org-1/repo.x", "_/."]).to_owned(),
            Some("^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$") => {
                let length = *self.random.pick(&[&40_u64, &64]);
                hex(self.random, length).replace('f', "F")
            }
            Some(other) => panic!("a pattern of upstream's without samples: {other}"),
            None if schema.get("format").is_some() => format!(
                "20{:02}-{:02}-{:02}T{:02}:00:{:02}{}",
                self.random.below(99),
                1 + self.random.below(12),
                1 + self.random.below(28),
                self.random.below(24),
                self.random.below(60),
                self.random.pick(&["Z", "z", "+01:00", "-07:30", ".25Z"])
            ),
            None => self.text(schema.get("minLength").and_then(Json::as_u64).unwrap_or(0)),
        }
    }

    fn text(&mut self, least: u64) -> String {
        let length = least + self.random.below(12);
        let letters = ["a", "B", "7", " ", "/", "\n", "\"", "\\", "\u{7f}", "ä", "\u{ff61}", "😀", "\u{0}", "e\u{301}"];
        (0..length).map(|_| self.random.pick(&letters)).collect()
    }

    fn array(&mut self, schema: &Json) -> Json {
        let least = schema.get("minItems").and_then(Json::as_u64).unwrap_or(0);
        // What may be left out goes with the fullness, so that full documents have no empty lists.
        let more = if self.random.chance(self.fullness) { 1 + self.random.below(3) } else { 0 };
        self.items(schema, least + more)
    }

    pub(crate) fn items(&mut self, schema: &Json, wanted: u64) -> Json {
        let mut items: Vec<Json> = Vec::new();
        for _ in 0..wanted * 8 {
            let item = self.value(&schema["items"]);
            if schema.get("uniqueItems") != Some(&json!(true)) || !items.contains(&item) {
                items.push(item);
            }
            if items.len() as u64 == wanted {
                break;
            }
        }
        Json::Array(items)
    }

    fn object(&mut self, schema: &Json) -> Json {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&none);
        let required: Vec<&str> =
            schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
        let mut out = Map::new();
        for (name, inner) in properties {
            if required.contains(&name.as_str()) || self.random.chance(self.fullness) {
                out.insert(name.clone(), self.value(inner));
            }
        }
        let open = match schema.get("additionalProperties") {
            None | Some(Json::Bool(true)) => Some(json!({"type": ["string", "integer", "null", "boolean"]})),
            Some(Json::Bool(false)) => None,
            Some(inner) => Some(inner.clone()),
        };
        if let Some(inner) = open.filter(|_| self.random.chance(self.fullness)) {
            for name in ["org.example.a", "x/y~z", ""].iter().take(1 + self.random.index(3)) {
                out.insert((*name).to_owned(), self.value(&inner));
            }
        }
        let mut object = Json::Object(out);
        for branch in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            if holds(&branch["if"], &object) {
                self.consequence(schema, &branch["then"], &mut object);
            }
        }
        object
    }

    fn consequence(&mut self, schema: &Json, then: &Json, object: &mut Json) {
        for name in then["required"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            let inner = &schema["properties"][name];
            let least = then["properties"][name]["minItems"].as_u64();
            let enough = object.get(name).is_some_and(|member| {
                least.is_none_or(|least| member.as_array().is_some_and(|items| items.len() as u64 >= least))
            });
            if !enough {
                object[name] = match least {
                    Some(least) => self.items(inner, least),
                    None => self.value(inner),
                };
            }
        }
    }
}
