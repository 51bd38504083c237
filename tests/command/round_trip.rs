//! 500 random files of data are drawn to the nanosecond.

use std::fs;

use super::binary::{folder, run};
use super::page::{Page, Totals};
use super::random::{Data, Random, others, tasks, workers};

/// Returns the content of a section, without the time of which nothing is known.
fn known(page: &Page, section: usize) -> Totals {
    let Some(section) = page.sections.get(section) else { return Totals::new() };
    let mut totals = page.totals(section);
    totals.retain(|(_, state, _), _| state != "not recorded");
    totals
}

fn render(name: &str, files: &[&Data]) -> Page {
    let folder = folder(name);
    let mut args = "render".to_owned();
    for (index, data) in files.iter().enumerate() {
        fs::write(folder.join(format!("{index}.json")), &data.text).unwrap();
        args += &format!(" {index}.json");
    }
    let ended = run(&folder, &format!("{args} -o out.html"));
    assert_eq!(ended.status, Some(0), "{}\n{:?}", ended.stderr, files);
    Page::read(&fs::read(folder.join("out.html")).unwrap())
}

#[test]
fn data_of_others() {
    for seed in 0..200 {
        let data = others(&mut Random::new(seed));
        let page = render("round_trip_others", &[&data]);
        assert_eq!(known(&page, 0), data.totals(), "{seed}");
    }
}

#[test]
fn our_own_data() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (kind, data) = match seed % 2 {
            0 => ("tasks", tasks(&mut random)),
            _ => ("workers", workers(&mut random)),
        };
        let page = render("round_trip_ours", &[&data]);
        assert_eq!(known(&page, 0), data.totals(), "{seed}");
        assert!(page.sections.iter().all(|section| section.kind == kind), "{seed}");
    }
}

#[test]
fn several_files() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let files = [others(&mut random), others(&mut random)];
        let page = render("round_trip_several", &[&files[0], &files[1]]);
        let totals: Vec<_> =
            files.iter().map(Data::totals).filter(|totals| !totals.is_empty()).collect();
        assert_eq!(page.sections.len(), totals.len());
        for (index, totals) in totals.into_iter().enumerate() {
            assert_eq!(known(&page, index), totals, "{seed}");
        }
    }
}
