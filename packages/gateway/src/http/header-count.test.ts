import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../limits/limit-settings.js";
import { AddressLimits } from "../limits/limits.js";
import { readUntilClose, runGateway } from "../testing/running-gateway.js";
import { runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { MAX_HEADERS } from "./refuse-directly.js";

const FORWARDED = "x-forwarded-for: 192.0.2.1\r\n";

function requestWith(start: string, headers: number, last: string, first = ""): string {
  const others = "a:\r\n".repeat(headers);
  return `${start} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${first}${others}${last}\r\n`;
}

test("100 headers: served; 101: refused with the bound", async () => {
  const { dial } = await runGateway();
  const answerTo = async (headers: number) => {
    const socket = await dial();
    // Two of them are host and connection.
    socket.write(requestWith("GET /v1/markets", headers - 2, ""));
    return readUntilClose(socket);
  };
  expect(await answerTo(MAX_HEADERS)).toMatch(/^HTTP\/1.1 200 /);
  const refused = await answerTo(MAX_HEADERS + 1);
  expect(refused).toMatch(/^HTTP\/1.1 431 /);
  expect(refused).toContain('"code":"headers_too_large"');
  expect(refused).toContain('"maxHeaders":100');
});

test.each(["GET /v1/markets", "POST /v1/orders", "GET /nowhere"])(
  "%s, a forwarding header behind 1,001 others: refused",
  async (start) => {
    const { dial } = await runGateway({ trustProxy: ["127.0.0.1"] });
    const socket = await dial();
    socket.write(requestWith(start, 1_001, FORWARDED));
    expect(await readUntilClose(socket)).toMatch(/^HTTP\/1.1 431 /);
  },
);

test.each(["/ws/v1", "/v1/markets"])(
  "an upgrade of %s with a forwarding header behind 1,001 others: refused",
  async (path) => {
    const { dial } = await runVenue();
    const socket = await dial();
    const upgrade =
      "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    const many = "a:\r\n".repeat(1_001);
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\n${upgrade}${many}${FORWARDED}\r\n`,
    );
    expect(await readUntilClose(socket)).toMatch(/^HTTP\/1.1 431 /);
  },
);

test("any domain: a sign-in whose forwarding header follows 1,001 others is refused", async () => {
  const at = await runVenue();
  const trader = new Trader(at);
  const message = trader.message();
  const signature = await trader.wallet.signMessage({ message });
  const body = JSON.stringify({ message, signature, sessionKey: trader.sessionKey.publicHex });
  const send = async (others: number, last: string) => {
    const socket = await at.dial();
    const type = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
    socket.write(requestWith("POST /v1/auth/siwe", others, last, type) + body);
    return readUntilClose(socket);
  };
  expect(await send(1_001, FORWARDED)).not.toContain('"token"');
  expect(await send(0, FORWARDED)).toContain("siwe_domain_not_allowed");
  expect(await send(0, "via: 1.1 edge\r\n")).toContain("siwe_domain_not_allowed");
  expect(await send(0, "")).toContain('"token"');
});

test("behind a trusted proxy: hidden headers do not make a request count for the proxy", async () => {
  const limits = { ...DEFAULT_LIMITS, readsPerSecond: 0.001, readsBurst: 1 };
  const { dial } = await runGateway({
    trustProxy: ["127.0.0.1"],
    addressLimits: new AddressLimits(limits),
  });
  const answerTo = async (others: number) => {
    const socket = await dial();
    socket.write(requestWith("GET /v1/markets", others, FORWARDED));
    return (await readUntilClose(socket)).slice(0, 12);
  };
  expect(await answerTo(0)).toBe("HTTP/1.1 200");
  expect(await answerTo(0)).toBe("HTTP/1.1 429");
  expect(await answerTo(1_001)).toBe("HTTP/1.1 431");
});
