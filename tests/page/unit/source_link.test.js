// Where a click on a file and line leads is the user's choice, never the data's.

import assert from "node:assert/strict";
import test from "node:test";

import { addressOfSource, faultOfAddress } from "../../../tokio-statemap/src/render/html/page/ui/source_link.js";

const frame = (file, more = {}) => ({ name: "shop::run", file, line: 7, origin: "program", ...more });

test("file and line are put into the address", () => {
  assert.equal(addressOfSource("vscode://file/home/me/shop/{file}:{line}", frame("src/a b.rs")), "vscode://file/home/me/shop/src/a%20b.rs:7");
  assert.equal(addressOfSource("vscode://file/{file}:{line}", frame("/home/me/shop/src/a.rs")), "vscode://file/home/me/shop/src/a.rs:7");
  assert.equal(addressOfSource("file://{file}", frame("/home/me/shop/src/a.rs")), "file:///home/me/shop/src/a.rs");
  assert.equal(addressOfSource("https://example.org/{file}#L{line}", frame("src\\a.rs", { line: 0 })), "https://example.org/src/a.rs#L1");
});

test("nothing leads elsewhere", () => {
  const address = "https://example.org/me/shop/blob/main/{file}#L{line}";
  for (const file of ["../../../../evil/x", "src/../../x", "..", "\ud800.rs"]) assert.equal(addressOfSource(address, frame(file)), null, file);
  assert.equal(addressOfSource(address, frame("src/a.rs", { origin: "dependency" })), null, "it isn't in that repository");
  assert.equal(addressOfSource("", frame("src/a.rs")), null);
  assert.equal(new URL(addressOfSource(address, frame("//evil.example/x?y#z"))).host, "example.org");
});

test("only addresses that open something elsewhere are taken", () => {
  for (const address of ["", "vscode://file/{file}", "idea://open?file={file}&line={line}"]) assert.equal(faultOfAddress(address), null, address);
  for (const address of ["javascript:alert('{file}')", " JavaScript:{file}", "data:text/html,{file}", "/home/{file}", "view-source:javascript:{file}"]) {
    assert.match(faultOfAddress(address), /scheme/, address);
  }
  assert.match(faultOfAddress("vscode://file/shop"), /\{file\}/);
});
