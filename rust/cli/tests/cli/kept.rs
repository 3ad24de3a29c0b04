//! `connector install`, `remove`, `list`, `review` and `audit` on a folder.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Said, connector, file, folder, run, said};

/// A connector with one tool at a fixed server.
fn tea(version: &str, more: &Value) -> Value {
    let mut manifest = json!({
        "manifestVersion": 1, "id": "tea", "version": version, "title": "Tea", "description": "Teas.\nMany.",
        "origins": { "shop": "https://tea.example" },
        "tools": [{
            "name": "brew", "description": "Brew one.", "effect": "write",
            "parameters": { "type": "object", "properties": { "leaf": { "type": "string", "maxLength": 9 } }, "required": ["leaf"] },
            "request": { "method": "POST", "origin": "shop", "path": ["brew", { "$param": "leaf" }] }
        }]
    });
    for (name, value) in more.as_object().unwrap() {
        manifest[name] = value.clone();
    }
    manifest
}

/// The first with another limit on its argument, as its successor.
fn successor(first: &Value, longest: u32) -> Value {
    let hash = run(&["hash", &file("first.json", first.to_string())]).out;
    let mut next = tea("2", &json!({ "supersedes": hash.trim() }));
    next["tools"][0]["parameters"]["properties"]["leaf"]["maxLength"] = json!(longest);
    next
}

struct Shop {
    folder: PathBuf,
    store: String,
}

impl Shop {
    fn new() -> Self {
        let folder = folder();
        let store = folder.join("store").to_str().unwrap().to_owned();
        Self { folder, store }
    }

    fn install(&self, manifest: &Value, more: &[&str]) -> Said {
        let file = file("tea.json", manifest.to_string());
        run(&[&["install", &file, "--store", &self.store], more].concat())
    }

    fn list(&self) -> Value {
        run(&["list", "--store", &self.store, "--format", "json"]).json()
    }
}

#[test]
fn a_connector_is_installed_listed_and_removed() {
    let shop = Shop::new();
    let said = shop.install(&tea("1", &json!({})), &[]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert!(said.out.starts_with("installed tea 1\n  tea.brew  "), "{}", said.out);
    assert_eq!(shop.list()["connectors"][0]["source"], "local");
    let text = run(&["list", "--store", &shop.store]);
    assert!(text.out.contains("tea 1  Tea\n  from local\n  tea.brew"), "{}", text.out);
    let again = shop.install(&tea("1", &json!({})), &[]);
    assert_eq!((again.status, &again.out), (0, &said.out), "the same again is the same");
    let removed = run(&["remove", "tea", "--store", &shop.store]);
    assert_eq!(removed.status, 0, "{}", removed.err);
    assert!(shop.list()["connectors"].as_array().unwrap().is_empty());
    let gone = run(&["remove", "tea", "--store", &shop.store]);
    assert!(gone.status == 1 && gone.err.contains("[connector.unknown]"), "{}", gone.err);
    // The id stays with its first source.
    let other = shop.install(&tea("1", &json!({})), &["--source", "web"]);
    assert!(other.status == 1 && other.err.contains("[merge.source]"), "{}", other.err);
}

#[test]
fn a_narrower_successor_is_merged_and_a_wider_one_takes_a_person() {
    let shop = Shop::new();
    let first = tea("1", &json!({}));
    shop.install(&first, &[]);
    let wider = successor(&first, 10);
    let refused = shop.install(&wider, &[]);
    assert_eq!(refused.status, 1);
    for part in [
        "tea 1 -> 2",
        "What a person decides:",
        "takes more than before  tea.brew",
        "now takes {\"leaf\":\"aaaaaaaaaa\"}",
        "[merge.widening]",
        "install with --yes",
    ] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    assert_eq!(shop.list()["connectors"][0]["version"], "1");
    let narrower = shop.install(&successor(&first, 8), &[]);
    assert_eq!((narrower.status, narrower.err.as_str()), (0, ""));
    let yes = shop.install(&successor(&successor(&first, 8), 10), &["--yes"]);
    assert_eq!(yes.status, 0, "{}", yes.err);
    let audit = run(&["audit", "--store", &shop.store, "--format", "json"]).json();
    let deeds: Vec<String> = audit["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| format!("{} {}", record["deed"].as_str().unwrap(), record["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(
        deeds,
        [
            "install ok",
            "install merge.widening",
            "review ok",
            "install ok",
            "install merge.widening",
            "review ok",
            "install ok"
        ]
    );
}

#[test]
fn a_review_compares_two_files_a_store_or_nothing() {
    let first = tea("1", &json!({}));
    let mut next = successor(&first, 10);
    next["description"] = json!("Teas.\nMany more.");
    let (old, new) = (file("old.json", first.to_string()), file("new.json", next.to_string()));
    let page = run(&["review", &new, "--against", &old]);
    assert_eq!(page.status, 1, "it takes an approval: {}", page.err);
    for part in [
        "another text  /description",
        "    - Many.",
        "    + Many more.",
        "      Teas.",
        "takes more than before",
    ] {
        assert!(page.out.contains(part), "{part}: {}", page.out);
    }
    assert!(!page.out.contains('\u{1b}'), "no colour where there is no terminal");
    let coloured = said(connector().args(["review", &new, "--against", &old]).env("CLICOLOR_FORCE", "1"));
    assert!(coloured.out.contains("\u{1b}[1m\u{1b}[31mtakes more than before"), "{:?}", coloured.out);
    let report = run(&["review", &new, "--against", &old, "--format", "json"]).json();
    assert_eq!(report["needsApproval"], true);
    let kinds: Vec<&str> =
        report["changes"].as_array().unwrap().iter().map(|change| change["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"widened") && kinds.contains(&"text"), "{kinds:?}");
    // Of nothing everything is new, and takes no approval.
    let fresh = run(&["review", &new]);
    assert!(fresh.status == 0 && fresh.out.contains("new tool  tea.brew"), "{}", fresh.out);
    let shop = Shop::new();
    shop.install(&first, &[]);
    let same = run(&["review", &old, "--store", &shop.store]);
    assert!(same.status == 0 && same.out.contains("Nothing changes."), "{}", same.out);
    assert_eq!(run(&["review", &new, "--store", &shop.store]).status, 1);
}

/// Nothing of a manifest moves the terminal of the person who decides about it.
#[test]
fn a_review_shows_hostile_text_escaped() {
    let first = tea("1", &json!({}));
    let mut next = successor(&first, 9);
    next["tools"][0]["parameters"]["properties"]["leaf"]["default"] = json!("x");
    next["tools"][0]["description"] = json!("Brew\u{202e}one\u{1b}[2J.");
    let (old, new) = (file("old.json", first.to_string()), file("new.json", next.to_string()));
    let page = run(&["review", &new, "--against", &old]);
    assert!(!page.out.contains('\u{202e}') && !page.out.contains('\u{1b}'), "{:?}", page.out);
}

#[test]
fn the_trail_is_verified_and_a_changed_line_is_found() {
    let shop = Shop::new();
    shop.install(&tea("1", &json!({})), &[]);
    run(&["remove", "tea", "--store", &shop.store]);
    let whole = run(&["audit", "verify", "--store", &shop.store]);
    assert!(whole.status == 0 && whole.out.starts_with("whole: 2 records"), "{} {}", whole.out, whole.err);
    let text = run(&["audit", "--store", &shop.store]);
    assert!(
        text.out.contains("install  tea  ok") && text.out.contains("Z  remove   tea  ok"),
        "{}",
        text.out
    );
    let log = shop.folder.join("store/audit.log");
    let lines = std::fs::read_to_string(&log).unwrap();
    // The newest line is cut off: only the head that was kept beside the store tells.
    let cut = lines.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n";
    std::fs::write(&log, cut).unwrap();
    let found = run(&["audit", "verify", "--store", &shop.store]);
    assert!(found.status == 1 && found.err.contains("[audit.broken]"), "{} {}", found.out, found.err);
    // No later command takes it for whole: each tells it, until a person names the head that is to count.
    for _ in 0..2 {
        let listed = run(&["list", "--store", &shop.store]);
        assert!(listed.status == 0 && listed.err.contains("[audit.broken]"), "{}", listed.err);
        shop.install(&tea("1", &json!({})), &[]);
        run(&["remove", "tea", "--store", &shop.store]);
        assert_eq!(run(&["audit", "verify", "--store", &shop.store]).status, 1);
    }
    let text = run(&["audit", "--store", &shop.store]).out;
    let head = text.trim_end().rsplit_once(' ').unwrap().1;
    assert_eq!(run(&["audit", "verify", "--store", &shop.store, "--head", head]).status, 0);
    let listed = run(&["list", "--store", &shop.store]);
    assert!(!listed.err.contains("audit.broken"), "{}", listed.err);
    let lines = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, lines.replace("\"subject\":\"tea\"", "\"subject\":\"tee\"")).unwrap();
    let found = run(&["audit", "verify", "--store", &shop.store]);
    assert!(found.status == 1 && found.err.contains("[audit.broken]"), "{} {}", found.out, found.err);
}

#[test]
fn an_older_lock_file_is_refused_and_a_changed_manifest_is_named() {
    let shop = Shop::new();
    shop.install(&tea("1", &json!({})), &[]);
    let lock = shop.folder.join("store/lock.json");
    let older = std::fs::read(&lock).unwrap();
    run(&["remove", "tea", "--store", &shop.store]);
    let newer = std::fs::read(&lock).unwrap();
    std::fs::write(&lock, older).unwrap();
    let refused = run(&["list", "--store", &shop.store]);
    assert!(refused.status == 1 && refused.err.contains("[store.rolled_back]"), "{}", refused.err);
    std::fs::write(&lock, newer).unwrap();
    shop.install(&tea("1", &json!({})), &[]);
    for manifest in std::fs::read_dir(shop.folder.join("store/manifests")).unwrap() {
        std::fs::write(manifest.unwrap().path(), "{}").unwrap();
    }
    let named = run(&["list", "--store", &shop.store]);
    assert!(named.status == 1 && named.out.contains("tea cannot be used [store.manifest]"), "{}", named.out);
}

#[test]
fn wrong_use_ends_with_2_and_a_missing_store_with_1() {
    let missing = folder().join("none").to_str().unwrap().to_owned();
    for args in [
        vec!["list", "--store", &missing],
        vec!["audit", "--store", &missing],
        vec!["audit", "verify", "--store", &missing],
        vec!["remove", "x", "--store", &missing],
    ] {
        let said = run(&args);
        assert!(said.status == 1 && said.err.contains("[store.folder]"), "{args:?}: {}", said.err);
    }
    assert!(
        !std::path::Path::new(&format!("{missing}.host.json")).exists(),
        "no key for a store that is not there"
    );
    let tea = file("tea.json", tea("1", &json!({})).to_string());
    let trust = ["install", &tea, "--store", &missing, "--trust", "key"];
    let both = ["review", &tea, "--against", &tea, "--store", &missing];
    for args in [&["audit"][..], &["list"], &["install", &tea], &trust, &both] {
        assert_eq!(run(args).status, 2, "{args:?}");
    }
}

/// A successor is installed under the grant of its predecessor, and a wider one is a person's decision.
#[test]
fn the_grant_stays_where_no_flag_says_otherwise() {
    let shop = Shop::new();
    let with_server = |version: &str, more: &Value| {
        let mut manifest = tea(version, more);
        manifest["origins"] =
            json!({ "shop": { "userProvided": { "title": "Your shop", "localNetwork": true } } });
        manifest
    };
    let first = with_server("1", &json!({}));
    let unbound = shop.install(&first, &[]);
    assert!(unbound.status == 1 && unbound.err.contains("[grant.invalid]"), "{}", unbound.err);
    assert_eq!(shop.install(&first, &["--origin", "shop=https://shop.example"]).status, 0);
    let hash = run(&["hash", &file("first.json", first.to_string())]).out;
    let next = with_server("2", &json!({ "supersedes": hash.trim() }));
    let said = shop.install(&next, &[]);
    assert_eq!(said.status, 0, "{}", said.err);
    let moved = ["--origin", "shop=https://other.example", "--allow", "loopback"];
    let refused = shop.install(&next, &moved);
    assert!(refused.status == 1 && refused.err.contains("the grant allows more"), "{}", refused.err);
    let grant = file("grant.json", r#"{"origins": {"shop": "https://shop.example"}, "only": []}"#);
    assert_eq!(shop.install(&next, &["--grant", &grant]).status, 0);
    assert_eq!(shop.list()["tools"], json!([]));
}
