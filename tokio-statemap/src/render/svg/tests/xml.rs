//! A parser that checks that a text is well-formed XML and lists its elements.

/// An element or its text.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    /// The text directly within it, entities resolved.
    pub(super) text: String,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Returns the elements of a document in the order of their starts. Panics if it is not well-formed.
///
/// It supports the syntax of our SVGs only: no comments, no processing instructions, no document type.
pub(super) fn parse(xml: &str) -> Vec<Element> {
    let allowed = |c: char| {
        matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
            || c >= '\u{10000}'
    };
    assert!(xml.chars().all(allowed), "a character that XML does not know");
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = xml;
    while !rest.is_empty() {
        if let Some(cdata) = rest.strip_prefix("<![CDATA[") {
            let end = cdata.find("]]>").expect("an end of CDATA");
            elements[*open.last().unwrap()].text.push_str(&cdata[..end]);
            rest = &cdata[end + 3..];
        } else if let Some(tag) = rest.strip_prefix("</") {
            let end = tag.find('>').expect("an end of a tag");
            let element = open.pop().expect("an open element");
            assert_eq!(elements[element].name, tag[..end].trim_end());
            rest = &tag[end + 1..];
        } else if let Some(tag) = rest.strip_prefix('<') {
            assert!(!open.is_empty() || elements.is_empty(), "a second root");
            let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).expect("an end of a name");
            assert!(tag.starts_with(|c: char| c.is_ascii_alphabetic()), "no name: {:.40}", tag);
            let (attributes, after) = attributes(&tag[end..]);
            elements.push(Element { name: tag[..end].to_owned(), attributes, text: String::new() });
            open.push(elements.len() - 1);
            rest = match after.strip_prefix("/>") {
                Some(after) => {
                    open.pop();
                    after
                }
                None => after.strip_prefix('>').expect("an end of a tag"),
            };
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            let text = resolve(&rest[..end]);
            match open.last() {
                Some(&element) => elements[element].text.push_str(&text),
                None => assert!(text.trim().is_empty(), "text outside the root"),
            }
            rest = &rest[end..];
        }
    }
    assert!(open.is_empty(), "an element is not closed");
    elements
}

fn attributes(mut rest: &str) -> (Vec<(String, String)>, &str) {
    let mut found: Vec<(String, String)> = Vec::new();
    loop {
        let trimmed = rest.trim_start();
        if trimmed.starts_with('>') || trimmed.starts_with("/>") {
            return (found, trimmed);
        }
        assert_ne!(trimmed.len(), rest.len(), "no space before an attribute");
        let (name, after) = trimmed.split_once("=\"").expect("an attribute");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-:".contains(c)), "{name}");
        let (value, after) = after.split_once('"').expect("an end of a value");
        assert!(!value.contains('<'), "{value}");
        assert!(found.iter().all(|(other, _)| other != name), "{name} twice");
        found.push((name.to_owned(), resolve(value)));
        rest = after;
    }
}

fn resolve(text: &str) -> String {
    assert!(!text.contains("]]>"), "an end of CDATA in text");
    let mut resolved = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        let (entity, after) = after.split_once(';').expect("an end of an entity");
        resolved.push_str(before);
        resolved.push_str(match entity {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "#39" => "'",
            other => panic!("entity {other}"),
        });
        rest = after;
    }
    resolved.push_str(rest);
    resolved
}
