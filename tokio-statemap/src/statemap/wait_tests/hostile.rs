//! Data that no program writes.

use super::*;

/// Returns the problem that the check finds in a text, and its line.
fn problem(text: &str) -> Option<(String, String)> {
    let problem = check_ours(text.as_bytes()).err()?.to_string();
    let (place, problem) = problem.split_once(": ")?;
    let line: usize = place.strip_prefix("line ")?.split_once(',')?.0.parse().ok()?;
    Some((text.lines().nth(line - 1).unwrap_or_default().to_owned(), problem.to_owned()))
}

/// Wrong data neither panics nor makes a wrong report: it is taken for other data, and the check reports the problem
/// and its position.
#[test]
fn what_cannot_be_is_refused() {
    let text = String::from_utf8(data(full()).tasks_to_bytes().unwrap()).unwrap();
    const NODE: &str = "[3,0,null,null]";
    const SECOND: &str = "[3,[[3,null,null,null]]]";
    const NAME: &str = "[7,\"cart\"]";
    const CARRIED: &str = "[8,3]";
    const LOCAL: &str = "[9,7,[\"src/local.rs\",3,5],null,600,3,null]";
    const CALLS: &str = "[7,[[200,null],[250,\"cart=7\"]]]";
    for (old, new, expected) in [
        // Places.
        (NODE, "[4,0,null,null]", "`waits` has an index that `functions` doesn't have"),
        (NODE, "[-1,0,null,null]", "`waits`: invalid value: integer `-1`"),
        (NODE, "[\"f\",0,null,null]", "`waits`: invalid type: string \"f\""),
        (NODE, "[3,3,null,null]", "`waits` has a caller that comes later"),
        (NODE, "[3,9,null,null]", "`waits` has a caller that comes later"),
        (NODE, "[3,-1,null,null]", "`waits`: invalid value"),
        (NODE, "[3,0,5,null]", "`waits`: invalid type: integer `5`, expected a string"),
        (NODE, "[3,0,null,65536]", "`waits`: invalid value: integer `65536`, expected u16"),
        (NODE, "[3,0,null]", "`waits`: invalid length 3"),
        (NODE, "[3,0,null,null,null]", "`waits`: invalid length 5"),
        (SECOND, "[1,[[3,null,null,null]]]", "`waits` must be by number"),
        (SECOND, "[0,[[3,null,null,null]]]", "`waits` has the invalid number 0"),
        (SECOND, "[16384,[[3,null,null,null]]]", "`waits` has the invalid number 16384"),
        (
            SECOND,
            "[16383,[[3,null,null,null]]]",
            "`waits` has the number 16383, which is of no functions",
        ),
        (SECOND, "[3,[]]", "`waits` has no functions of number 3"),
        (SECOND, "[3,{}]", "`waits`: invalid type: map"),
        (SECOND, "7", "`waits`: invalid type: integer `7`"),
        // The facts about single tasks.
        (NAME, "[7,null]", "`names`: invalid type: null, expected a string"),
        (NAME, "[null,\"cart\"]", "`names`: null is no whole number"),
        (NAME, "[\"task-7\",\"cart\"]", "`names`: \"task-7\" is no whole number"),
        (NAME, "[7]", "`names`: invalid length 1"),
        (CARRIED, "[8,1001]", "`carried` has a wait since 1001, after the end"),
        (CARRIED, "[8,\"3\"]", "`carried`: \"3\" is no whole number"),
        (
            LOCAL,
            "[9,7,[\"src/local.rs\",3,5],null,1001,3,null]",
            "`localTasks` has a wait since 1001, after the end",
        ),
        (
            LOCAL,
            "[9,7,[\"src/local.rs\",3,5],null,600,0,null]",
            "`localTasks` has the invalid number 0",
        ),
        (
            LOCAL,
            "[9,7,[\"src/local.rs\",3,5],null,600,16384,null]",
            "`localTasks` has the invalid number 16384",
        ),
        (LOCAL, "[9,7,[\"src/local.rs\",3],null,600,3,null]", "`localTasks`: invalid length 2"),
        (LOCAL, "[9,7,[7,3,5],null,600,3,null]", "`localTasks`: invalid type: integer `7`"),
        (LOCAL, "[9,7,null,null,600,3,\"shop\"]", "`localTasks`: \"shop\" is no whole number"),
        (LOCAL, "[9,7,null,null,600,3]", "`localTasks`: invalid length 6"),
        (
            LOCAL,
            "[9,\"shop\",[\"src/local.rs\",3,5],null,600,3,null]",
            "`localTasks`: \"shop\" is no whole number",
        ),
        (CALLS, "[7,[[200,7]]]", "`calls`: invalid type: integer `7`, expected a string"),
        (CALLS, "[7,[[200]]]", "`calls`: invalid length 1"),
        (CALLS, "[7,[]],[7,[]]", "`calls` must be by task"),
        (CALLS, "[7,[]],[\"main\",[]]", "`calls` must be by task"),
        ("\"names\":", "\"nicknames\":", "`nicknames`: unknown field `nicknames`"),
        ("\"waits\":[", "\"waits\":7,\"cut\":[", "`cut`: "),
        // The run.
        ("\"waitsNotKept\":4", "\"waitsNotKept\":-4", "-4 is no whole number"),
    ] {
        assert!(text.contains(old), "{old}\n{text}");
        let changed = text.replace(old, new);
        let (line, problem) = problem(&changed).unwrap_or_else(|| panic!("{new} is taken"));
        assert!(problem.contains(expected), "{new}: {problem}");
        assert!(line.contains(new), "{new}: {problem}, in {line}");
        let other = read(changed.as_bytes()).unwrap();
        let is_run = matches!(recordings(&[other])[..], [Recording::Run { .. }]);
        assert!(!is_run, "{new}");
    }
}

#[test]
fn workers_wait_nowhere() {
    let text = String::from_utf8(data(full()).workers_to_bytes().unwrap()).unwrap();
    for list in [
        "\"waits\":[[1,[]]]",
        "\"names\":[[7,\"cart\"]]",
        "\"carried\":[[7,1]]",
        "\"localTasks\":[[9,7,[\"a.rs\",3,5],null,600,3,null]]",
        "\"calls\":[[7,[]]]",
    ] {
        let part = format!("{{\"tag\":\"tokio-statemap 1\",\"state\":2,{list}}}\n");
        let error = check_ours((text.clone() + &part).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("workers have none"), "{error}");
    }
}

/// Without limits, a file of a few MB could take any amount of time and memory.
#[test]
fn places_have_limits() {
    let problem = |waits: Vec<Wait>| {
        let mut timeline = full();
        timeline.places.waits = waits;
        check_ours(&data(timeline).tasks_to_bytes().unwrap()[..])
            .err()
            .map(|error| error.to_string())
    };
    let wide = |functions| Wait { frames: vec![frame("shop::f", 1, Vec::new()); functions] };
    let deep = |functions: u32| {
        let inner = |inner: Vec<AwaitFrame>, _| vec![frame("shop::f", 1, inner)];
        Wait { frames: (0..functions).fold(Vec::new(), inner) }
    };
    assert_eq!(problem(vec![wide(1 << 14)]), None);
    let error = problem(vec![Wait::default(), wide((1 << 14) + 1)]).unwrap();
    assert!(error.contains("`waits` have too many functions, such as number 2"), "{error}");
    assert_eq!(problem(vec![deep(1025)]), None);
    let error = problem(vec![deep(1026)]).unwrap();
    assert!(error.contains("`waits` has functions over 1024 deep"), "{error}");
}

/// A place with many leaves, each at the end of a deep chain.
#[test]
fn a_deep_place_of_many_branches_takes_little_memory() {
    let leaves = vec![frame("shop::leaf", 2, Vec::new()); 15_000];
    let deep = (0..1_000).fold(leaves, |inner, _| vec![frame("shop::f", 1, inner)]);
    let mut timeline = full();
    timeline.places.waits = vec![Wait { frames: deep }; 20];
    let began = std::time::Instant::now();
    let lines: usize = timeline.places.waits.iter().map(|wait| wait.lines().len()).sum();
    assert_eq!(lines, 300_000);
    // This is no measurement: with a chain for each leaf it would take far longer.
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
