import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FollowedStreams } from "./public-feeds.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function begin() {
  const told: string[] = [];
  const link = {
    notify: (name: string, { stream }: { stream: string }) => void told.push(`${name} ${stream}`),
  };
  const followed = new FollowedStreams(link, (stream) => told.push(`forget ${stream}`));
  return { told, followed };
}

test("readers that come and go within ten seconds: one notice to the core", () => {
  const { told, followed } = begin();
  const leave = [followed.join("status"), followed.join("status")];
  for (const each of leave) each();
  vi.advanceTimersByTime(9_999);
  const again = followed.join("status");
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual(["follow status"]);
  again();
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual(["follow status", "unfollow status", "forget status"]);
  followed.join("status");
  expect(told.at(-1)).toBe("follow status");
});
