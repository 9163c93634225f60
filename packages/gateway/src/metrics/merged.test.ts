import { Counter, Gauge, Registry } from "prom-client";
import { expect, test } from "vitest";
import { mergedMetrics } from "./merged.js";

async function textOf(process: string, own: string): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  const registers = [registry];
  new Gauge({ name: "shared", help: "Of all.", registers }).set(1);
  new Counter({ name: own, help: "Of one.", labelNames: ["code"], registers }).inc({ code: "a" });
  return registry.metrics();
}

test("texts of several processes: one head for each family, then the series of all", async () => {
  const texts = [await textOf("core", "of_the_core"), await textOf("edge-1", "of_edges")];
  expect(mergedMetrics([...texts, await textOf("edge-2", "of_edges")])).toBe(
    `# HELP shared Of all.
# TYPE shared gauge
shared{process="core"} 1
shared{process="edge-1"} 1
shared{process="edge-2"} 1

# HELP of_the_core Of one.
# TYPE of_the_core counter
of_the_core{code="a",process="core"} 1

# HELP of_edges Of one.
# TYPE of_edges counter
of_edges{code="a",process="edge-1"} 1
of_edges{code="a",process="edge-2"} 1
`,
  );
});
