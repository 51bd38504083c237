// `links.md` stands before each page: in Markdown the first definition of a link counts, so pages link to each other's
// modules here, and to each other's files in the repository.
#![doc = include_str!("links.md")]
#![doc = include_str!("README.md")]

#[doc = include_str!("links.md")]
#[doc = include_str!("setup.md")]
pub mod setup {}
#[doc = include_str!("links.md")]
#[doc = include_str!("keys.md")]
pub mod keys {}
#[doc = include_str!("links.md")]
#[doc = include_str!("report.md")]
pub mod report {}
#[doc = include_str!("links.md")]
#[doc = include_str!("verdict.md")]
pub mod verdict {}
#[doc = include_str!("links.md")]
#[doc = include_str!("page.md")]
pub mod page {}
#[doc = include_str!("links.md")]
#[doc = include_str!("waiting.md")]
pub mod waiting {}
#[doc = include_str!("links.md")]
#[cfg_attr(feature = "tracing", doc = include_str!("requests.md"))]
#[cfg_attr(
    not(feature = "tracing"),
    doc = "# Requests\n\nThis page is in the documentation of a build with the feature `tracing`."
)]
pub mod requests {}
#[doc = include_str!("links.md")]
#[doc = include_str!("command.md")]
pub mod command {}
#[doc = include_str!("links.md")]
#[doc = include_str!("ci.md")]
pub mod ci {}
#[doc = include_str!("links.md")]
#[doc = include_str!("export.md")]
pub mod export {}
#[doc = include_str!("links.md")]
#[doc = include_str!("builder.md")]
pub mod builder {}
#[doc = include_str!("links.md")]
#[doc = include_str!("service.md")]
pub mod service {}
#[doc = include_str!("links.md")]
#[doc = include_str!("kubernetes.md")]
pub mod kubernetes {}
#[doc = include_str!("links.md")]
#[doc = include_str!("exit.md")]
pub mod exit {}
#[doc = include_str!("links.md")]
#[doc = include_str!("states.md")]
pub mod states {}
#[doc = include_str!("links.md")]
#[doc = include_str!("cost.md")]
pub mod cost {}
#[doc = include_str!("links.md")]
#[doc = include_str!("limits.md")]
pub mod limits {}
