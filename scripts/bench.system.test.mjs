/** The bench as a command: what it prints, and that a part that fails does not stop the others. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { withTable } from "../bench/dist/harness/report.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a built bench to its end. */
function bench(script, args, environment = {}) {
  const child = spawn(process.execPath, [`${root}bench/dist/${script}.js`, ...args], {
    env: { ...process.env, ...environment },
  });
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    said.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said.err += chunk;
  });
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, ...said }));
  });
}

describe("npm run bench", { timeout: 180_000 }, () => {
  it("help: names the parts", async () => {
    const { code, out } = await bench("main", ["--help"]);
    expect(code).toBe(0);
    expect(out).toContain("engine, journal, orders, reads, streams, recovery");
  });

  it("a wrong option or part: code 2, nothing is run", async () => {
    expect(await bench("main", ["--fast"])).toMatchObject({ code: 2, out: "" });
    expect(await bench("main", ["--only", "engines"])).toMatchObject({ code: 2, out: "" });
    expect(await bench("main", ["engines"])).toMatchObject({ code: 2, out: "" });
    expect(await bench("main", ["journal", "--rounds", "1e6"])).toMatchObject({ code: 2, out: "" });
  });

  it("a part: one object with figures and the bare loop they are compared with", async () => {
    const amounts = ["--milliseconds", "20", "--rounds", "1"];
    const { code, out } = await bench("main", ["journal", "--json", ...amounts]);
    expect(code).toBe(0);
    const { rows, failures } = JSON.parse(out);
    expect(failures).toEqual([]);
    const append = rows.find(({ metric }) => metric === "append to durable, 16 in flight");
    expect(append).toMatchObject({ unit: "commands/s", against: "bare" });
    expect(append.value).toBeGreaterThan(0);
    expect(append.ratio).toBeGreaterThan(0);
  });

  it("parts that fail: each is named, the next still runs, code 1", async () => {
    const noDisk = { TMPDIR: "/nonexistent/perpgate" };
    const { code, out, err } = await bench("main", ["--only", "journal,reads"], noDisk);
    expect(code).toBe(1);
    expect(out).toMatch(/FAILED journal: appends: ENOENT/);
    expect(out).toMatch(/FAILED reads: the book: ENOENT/);
    expect(err).toContain("[2/2] reads");
  });
});

describe("docs/performance.md", () => {
  it("has the place that --write-docs fills, and keeps everything around it", () => {
    const page = readFileSync(`${root}docs/performance.md`, "utf8");
    const row = {
      metric: "  append",
      value: 1234.5,
      unit: "commands/s",
      against: "bare",
      ratio: 2,
    };
    const results = [{ bench: "journal", rows: [row] }];
    const filled = withTable(page, results, "A machine");
    expect(filled).toContain("A machine.\n\n| part | metric |");
    expect(filled).toContain("| journal | append | 1,234.5 | commands/s | bare | 2× |");
    expect(withTable(filled, results, "A machine")).toBe(filled);
    const [before = ""] = page.split("<!-- the last table");
    expect(filled.startsWith(before)).toBe(true);
  });
});
