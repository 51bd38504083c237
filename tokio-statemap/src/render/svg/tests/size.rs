//! The size is a hard limit, and the picture states what it leaves out.

use super::super::survey::Survey;
use super::xml::{Element, parse};
use super::*;

fn svg(picture: &Picture<'_>, max_bytes: u64) -> String {
    let mut svg = Vec::new();
    write_with(picture, &Options { max_bytes }, &mut svg).unwrap();
    assert!(svg.len() as u64 <= max_bytes, "{} of {max_bytes} bytes", svg.len());
    String::from_utf8(svg).unwrap()
}

fn rows_of(elements: &[Element]) -> Vec<&Element> {
    elements.iter().filter(|element| element.attribute("class") == Some("r")).collect()
}

fn busy(rows: usize, groups: usize) -> Picture<'static> {
    let length_ns = 1000 * MS;
    let given = random_rows(&mut Random(3), rows, 200, length_ns);
    picture(length_ns, vec![workers(4, length_ns), tasks(given, groups)])
}

#[test]
#[ignore = "slow"]
fn is_never_exceeded() {
    let picture = busy(1500, 40);
    let mut before = 0;
    for max_bytes in [41, 42, 100, 300, 5_000, 20_000, 50_000, 60_000, 70_000, 100_000, 150_000]
        .into_iter()
        .chain([300_000, 1_000_000, 2_000_000, 4_000_000, u64::MAX])
    {
        let elements = parse(&svg(&picture, max_bytes));
        assert_eq!(elements[0].name, "svg");
        let drawn = rows_of(&elements).len();
        // A picture with a script may have fewer rows than a still one just below.
        assert!(drawn * 2 >= before, "{drawn} rows in {max_bytes} bytes, before {before}");
        before = drawn;
    }
    assert_eq!(before, 4 + 1024);
    let error = write_with(&picture, &Options { max_bytes: 40 }, Vec::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn is_used_and_the_rest_is_counted() {
    let picture = busy(1500, 40);
    let file = svg(&picture, 600_000);
    assert!(file.len() > 400_000, "{} bytes", file.len());
    let elements = parse(&file);
    let drawn = rows_of(&elements).len() - 4;
    assert!((10..1024).contains(&drawn), "{drawn}");
    let more = format!(
        "{} more are not drawn (the least busy ones)",
        super::super::text::thousands(1500 - drawn)
    );
    assert!(elements.iter().any(|element| element.text == more), "{more}");
    // The same holds for each group.
    let groups = elements.iter().filter(|element| element.text.contains(" more not drawn"));
    let numbers = groups.map(|element| {
        let (_, left) = element.text.rsplit_once(", ").unwrap();
        left.split(' ').next().unwrap().parse::<usize>().unwrap()
    });
    let undrawn_groups =
        40 - elements.iter().filter(|e| e.attribute("class") == Some("group")).count();
    let of_undrawn_groups: usize = picture.sections[1]
        .groups
        .iter()
        .filter(|group| !elements.iter().any(|element| element.text == group.label))
        .map(|group| group.lanes.len())
        .sum();
    assert_eq!(numbers.sum::<usize>() + of_undrawn_groups, 1500 - drawn, "{undrawn_groups}");
}

/// The rows with the longest polls are drawn, and `main` and the workers always.
#[test]
fn the_most_important_rows_are_drawn() {
    let length_ns = 10_000 * MS;
    let mut given = Given::default();
    for row in 0..3000_u64 {
        let start = row * 3 * MS;
        // Every hundredth has a long poll.
        let length = if row % 100 == 7 { 5 * MS + row } else { MS / 10 };
        let mut poll = Transition::new(start + MS, RUNNING);
        poll.worker = Some(1);
        let end = start + MS + length;
        let life = vec![Transition::new(start, SPAWNED), poll, Transition::new(end, COMPLETED)];
        given.rows.push((format!("task-{row}"), None, life));
    }
    let picture = picture(length_ns, vec![workers(2, length_ns), tasks(given, 3)]);
    let elements = parse(&svg(&picture, 200_000));
    for (at, element) in elements.iter().enumerate() {
        // Each row begins with its name.
        if element.attribute("class") == Some("r") && element.attribute("data-p").is_some() {
            let (_, number) = elements[at + 1].text.split_once('-').unwrap();
            assert_eq!(number.parse::<u64>().unwrap() % 100, 7);
        }
    }
    let long = rows_of(&elements).iter().filter(|row| row.attribute("data-p").is_some()).count();
    assert_eq!(long, 30);
    // The worst poll is outlined in the rows of its task and its worker.
    let worst = elements.iter().filter(|element| element.attribute("class") == Some("w")).count();
    assert_eq!(worst, 2);
    let text = elements.iter().find(|element| element.text.starts_with("longest poll")).unwrap();
    assert_eq!(text.text, "longest poll: 5.00 ms on worker-1, task-2907, at 8.72 s");
    // The time in which worker-1 was held is outlined, too; the legend explains that.
    let of_long = |name| {
        let is_one = |e: &&Element| e.name == name && e.attribute("class") == Some("l");
        elements.iter().filter(is_one).count()
    };
    assert_eq!((of_long("path"), of_long("rect")), (31, 1));
    assert!(elements.iter().any(|element| element.text == "in a poll over 1 ms"));
}

#[test]
#[ignore = "slow"]
fn totals_are_exact() {
    let mut random = Random(5);
    for round in 0..50 {
        let length_ns = 1 + random.below(1 << (10 + round / 2));
        let given = random_rows(&mut random, 30, 50, length_ns);
        let gap = picture(length_ns, vec![]).gaps[0];
        let mut expected = vec![[0_u128; 4]; 4];
        let mut of_rows = std::collections::BTreeMap::new();
        for (row, (name, _, life)) in given.rows.iter().enumerate() {
            let mut totals = [0_u64; 4];
            for (i, transition) in life.iter().enumerate() {
                let end = life.get(i + 1).map_or(length_ns, |next| next.time_ns);
                // Its state in the gap isn't known.
                let from = transition.time_ns;
                let in_gap = end.min(gap.1).saturating_sub(from.max(gap.0));
                totals[transition.state as usize] += end - from - in_gap;
            }
            for (sum, total) in expected[row % 4].iter_mut().zip(totals) {
                *sum += u128::from(total);
            }
            of_rows.insert(name.clone(), totals.map(|total| total.to_string()).join(","));
        }
        let picture = picture(length_ns, vec![tasks(given, 4)]);
        assert_eq!(Survey::new(&picture, |_| 5).sections[0].totals, expected);
        let elements = parse(&svg(&picture, 4_000_000));
        for (row, name) in elements.iter().zip(elements.iter().skip(1)) {
            if row.attribute("class") == Some("r") {
                assert_eq!(row.attribute("data-t"), of_rows.remove(&name.text).as_deref());
            }
        }
        assert!(of_rows.is_empty());
        let data = elements.iter().find(|element| element.name == "metadata").unwrap();
        let data: serde_json::Value = serde_json::from_str(&data.text).unwrap();
        for (group, totals) in expected.iter().enumerate() {
            let totals: Vec<String> = totals.iter().map(u128::to_string).collect();
            assert_eq!(data["sections"][0]["groups"][group][2], serde_json::json!(totals));
        }
    }
}

#[test]
fn an_empty_picture_is_drawn() {
    for picture in [picture(0, vec![]), picture(0, vec![workers(1, 0)]), picture(u64::MAX, vec![])]
    {
        parse(&svg(&picture, 4_000_000));
    }
}

#[test]
fn is_the_same_each_time() {
    assert_eq!(svg(&busy(100, 7), 4_000_000), svg(&busy(100, 7), 4_000_000));
}
