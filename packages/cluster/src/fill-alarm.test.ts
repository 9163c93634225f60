import { expect, test } from "vitest";
import { FillAlarm } from "./fenced-log.js";

test("fill alarm: one line at 50 %, one at 80 %, again after there was room", () => {
  const lines: string[] = [];
  const alarm = new FillAlarm("venue", { info: () => undefined, warn: (text) => lines.push(text) });
  const state = {
    created: "",
    firstSeq: 1,
    lastSeq: 1,
    maxBytes: 1000,
    leader: "",
    replicas: [],
    config: {},
  };
  const counts = [499, 500, 799, 800, 1000, 400, 900].map((bytes) => {
    alarm.check({ ...state, bytes });
    return lines.length;
  });
  expect(counts).toEqual([0, 1, 1, 2, 2, 2, 3]);
  expect(lines[0]).toContain("stream venue is 50 % full (500 of 1000 bytes)");
  alarm.check({ ...state, bytes: 1e12, maxBytes: undefined });
  expect(lines.length).toBe(3);
});
