/** What an operator's alerts read, from a real process. */

import { describe, expect, test } from "vitest";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

async function metricsOf(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith("perpgate_"));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

describe("GET /metrics", () => {
  test("a running venue: ready, a growing log, no halted market, free disk space", async () => {
    const args = ["--port", "0", "--data", temporaryFolder(), "--no-bots", "--log-level", "error"];
    const url = await new PerpgateProcess(args).url();
    while (!(await fetch(`${url}/readyz`)).ok);
    const first = await metricsOf(url);
    expect(first.get("perpgate_ready")).toBe(1);
    expect(first.get("perpgate_commands_waiting")).toBeGreaterThanOrEqual(0);
    expect(first.get("perpgate_history_rows_waiting")).toBeGreaterThanOrEqual(0);
    for (const symbol of ["BTCUSD", "ETHUSD", "SOLUSD"]) {
      expect(first.get(`perpgate_market_halted{symbol="${symbol}"}`)).toBe(0);
    }
    expect(first.get("perpgate_clock_lead_seconds")).toBeLessThanOrEqual(2);
    expect(first.get('perpgate_clock_jumps_total{kind="doubted"}')).toBe(0);
    expect(first.get("perpgate_data_free_bytes")).toBeGreaterThan(0);
    expect(first.get("perpgate_log_spare_missing")).toBe(0);
    expect(first.get("perpgate_log_spare_failures_total")).toBe(0);
    const position = first.get("perpgate_log_position") ?? 0;
    expect(position).toBeGreaterThan(0);
    while (((await metricsOf(url)).get("perpgate_log_position") ?? 0) <= position);
  });
});
