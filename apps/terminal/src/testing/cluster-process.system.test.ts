import { afterEach, expect, test, vi } from "vitest";
import { isWithoutNats } from "./cluster-process.js";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test("isWithoutNats, without nats-server: a warning; under REQUIRE_NATS_SERVER=1 it throws", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.stubEnv("PERPGATE_NATS_SERVER", "/missing/nats-server");
  vi.stubEnv("REQUIRE_NATS_SERVER", undefined);
  expect(isWithoutNats()).toBe(true);
  expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^SKIPPED: .*nats-server/));
  vi.stubEnv("REQUIRE_NATS_SERVER", "1");
  expect(isWithoutNats).toThrow("REQUIRE_NATS_SERVER is set, but nats-server was not found");
});
