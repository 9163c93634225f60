import { runVenue, until } from "@perpgate/gateway/testing";
import { PerpgateClient } from "@perpgate/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { GatewayFeed } from "./gateway-feed.js";

vi.stubGlobal("requestAnimationFrame", (callback: () => void) => setTimeout(callback));

function start(...url: string[]) {
  const client = new PerpgateClient({ url });
  onTestFinished(() => client.close());
  const feed = new GatewayFeed(client);
  const stop = feed.start();
  onTestFinished(stop);
  return { client, feed, stop };
}

test("several gateways: the region of the one in use, also once another is used", async () => {
  const tokyo = await runVenue({ server: { region: "tokyo" } });
  const plain = await runVenue();
  const { client, feed } = start(tokyo.url, plain.url);
  client.useGateway(tokyo.url);
  await until(() => feed.inUse.get()?.region === "tokyo");
  expect(feed.inUse.get()?.url).toBe(tokyo.url);
  client.useGateway(plain.url);
  await until(() => feed.inUse.get()?.url === plain.url);
  expect(feed.inUse.get()?.region).toBeUndefined();
  client.useGateway(tokyo.url);
  await until(() => feed.inUse.get()?.region === "tokyo");
});

test("one gateway: none is shown", async () => {
  const { url } = await runVenue({ server: { region: "tokyo" } });
  expect(start(url).feed.inUse.get()).toBeUndefined();
});

test("stopped: a change of the gateway is no longer read", () => {
  const [first, other] = ["http://127.0.0.1:1", "http://127.0.0.1:2"] as const;
  const { client, feed, stop } = start(first, other);
  client.useGateway(other);
  expect(feed.inUse.get()?.url).toBe(other);
  stop();
  client.useGateway(first);
  expect(feed.inUse.get()?.url).toBe(other);
});
