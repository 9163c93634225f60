/** A network that drops every packet: how long a socket may be silent, and how it comes back. */

import { CuttingProxy, type RunningVenue } from "@perpgate/gateway/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, newClient, startVenue } from "../testing/venue.js";

describe("silence", () => {
  let venue: RunningVenue;

  beforeAll(async () => {
    venue = await startVenue({}, afterAll);
  });

  test("silentMs: grows while nothing arrives; after silenceMs the socket is opened again", async () => {
    const proxy = await CuttingProxy.before(venue.url);
    const client = newClient(venue, { url: proxy.url, heartbeatMs: 20, silenceMs: 300 });
    expect(client.stream.silentMs).toBeUndefined();
    await client.stream.watchTicker("BTCUSD", () => undefined).ready;
    proxy.fate = (direction) => (direction === "down" ? "swallow" : "pass");
    await eventually(() => (client.stream.silentMs ?? 0) > 100).toBe(true);
    expect(client.stream.state).toBe("open");
    await eventually(() => client.stream.state).not.toBe("open");
    proxy.fate = () => "pass";
    client.connectNow();
    await eventually(() => client.stream.state).toBe("open");
  });

  test("ageMs: grows while messages arrive late, and falls once they are on time", async () => {
    const proxy = await CuttingProxy.before(venue.url);
    const client = newClient(venue, { url: proxy.url, heartbeatMs: 20, silenceMs: 60_000 });
    expect(client.stream.ageMs).toBeUndefined();
    await client.stream.watchTicker("BTCUSD", () => undefined).ready;
    await eventually(() => (client.stream.ageMs ?? Number.NaN) < 100).toBe(true);
    proxy.delayMs = 400;
    // Up and down: the answer to a ping shows what was true more than 400 ms ago.
    await eventually(() => (client.stream.ageMs ?? 0) > 400).toBe(true);
    await eventually(() => (client.stream.silentMs ?? Number.NaN) < 100).toBe(true);
    expect(client.stream.ageMs).toBeGreaterThan(400);
    proxy.delayMs = 0;
    await eventually(() => (client.stream.ageMs ?? Number.NaN) < 100).toBe(true);
  });

  test("ageMs: a ping without an answer does no harm", async () => {
    let isDropping = false;
    class Dropping extends WebSocket {
      override send(data: string): void {
        if (!isDropping || !data.includes("ping")) super.send(data);
      }
    }
    const client = newClient(venue, { WebSocket: Dropping, heartbeatMs: 20, silenceMs: 60_000 });
    await client.stream.watchTicker("BTCUSD", () => undefined).ready;
    isDropping = true;
    await eventually(() => (client.stream.ageMs ?? 0) > 300).toBe(true);
    isDropping = false;
    await eventually(() => (client.stream.ageMs ?? Number.NaN) < 100).toBe(true);
  });

  test("connectNow: ends the wait for the next try", async () => {
    const proxy = await CuttingProxy.before(venue.url);
    const client = newClient(venue, { url: proxy.url });
    await client.stream.watchTicker("BTCUSD", () => undefined).ready;
    proxy.isDown = true;
    proxy.cutAll();
    await eventually(() => client.stream.state).toBe("waiting");
    proxy.isDown = false;
    client.connectNow();
    expect(client.stream.state).toBe("connecting");
    await eventually(() => client.stream.state).toBe("open");
  });
});
