/** Who may link from another machine, and what those who may not are able to do. */
import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { MAX_HANDSHAKES } from "./handshakes.js";
import { encoded, FILE, HELLO, newFolder } from "./testing/socket-links.js";
import { closed, HOST, linkTo, startRemoteCore, venue } from "./testing/tls-links.js";
import { newVenueCertificates } from "./testing/venue-certificates.js";
import { connectToRemoteCore, secureContextOf } from "./tls-socket.js";

const other = newVenueCertificates();
const YESTERDAY = new Date(Date.now() - 3_600_000);

test("certificates of the venue's authority: the core knows the edge's name, and answers", async () => {
  const { listener, edges } = await startRemoteCore();
  const edge = await linkTo(listener.port, venue.identityOf("client", "frankfurt"));
  expect(await edge.request("tlogPolicy", {})).toEqual(FILE);
  expect(edges).toEqual([{ name: "frankfurt", address: HOST }]);
  expect(listener.handshakes).toBe(0);
});

test.each([
  ["of another authority", { ...other.identityOf("client"), ca: venue.authority.cert }],
  ["that has expired", venue.identityOf("client", "edge", YESTERDAY)],
  ["of a core", venue.identityOf("server")],
])("an edge with a certificate %s never links", async (_, identity) => {
  const { listener, links, refused } = await startRemoteCore();
  await expect(linkTo(listener.port, identity)).rejects.toThrow();
  expect(links).toEqual([]);
  expect(refused).toHaveLength(1);
  await expect.poll(() => listener.handshakes).toBe(0);
  await linkTo(listener.port, venue.identityOf("client"));
});

test("a peer without a certificate never links, and what it sends reaches nobody", async () => {
  const { listener, links, refused, place } = await startRemoteCore();
  const socket = connectTls({ ...place, rejectUnauthorized: false });
  socket.on("error", () => undefined);
  socket.write(encoded(HELLO));
  await closed(socket);
  expect([links, refused.length, listener.handshakes]).toEqual([[], 1, 0]);
});

test("a peer that speaks an older TLS never links", async () => {
  const { links, place } = await startRemoteCore();
  const { ca, cert, key } = venue.identityOf("client");
  const socket = connectTls({ ...place, ca, cert, key, maxVersion: "TLSv1.2" });
  const [error] = await once(socket, "error");
  expect(String(error)).toContain("alert protocol version");
  expect(links).toEqual([]);
});

test.each([
  ["of another authority", { ...other.identityOf("server"), ca: venue.authority.cert }],
  ["that has expired", venue.identityOf("server", "core", YESTERDAY)],
  ["of an edge", venue.identityOf("client")],
])("an edge does not link to a core with a certificate %s", async (_, identity) => {
  const { place, links } = await startRemoteCore(identity);
  const context = secureContextOf(venue.identityOf("client"));
  await expect(connectToRemoteCore(place, context)).rejects.toThrow();
  expect(links).toEqual([]);
});

test("a certificate and the key of another: a message, before anything is opened", () => {
  const { cert } = venue.identityOf("client");
  const { ca, key } = venue.identityOf("client");
  expect(() => secureContextOf({ ca, cert, key })).toThrow("key values mismatch");
});

test("rubbish instead of TLS, and in its middle: the connection is closed, edges go on", async () => {
  const { listener, links, refused, place } = await startRemoteCore();
  const honest = await linkTo(listener.port, venue.identityOf("client"));
  const plain = connect(place);
  plain.on("error", () => undefined);
  plain.write("GET / HTTP/1.1\r\n\r\n");
  plain.resume();
  await closed(plain);
  const cut = connect(place);
  cut.on("error", () => undefined);
  // A record of TLS that claims to be a greeting of 512 bytes.
  cut.end(Buffer.concat([Buffer.from("1603010200010001fc", "hex"), Buffer.alloc(300, 7)]));
  cut.resume();
  await closed(cut);
  await expect.poll(() => listener.handshakes).toBe(0);
  expect([links.length, refused.length]).toEqual([1, 1]);
  expect(await honest.request("tlogPolicy", {})).toEqual(FILE);
});

test("rubbish after the handshake: the link ends with a message, other edges go on", async () => {
  const { listener, links, place } = await startRemoteCore();
  const honest = await linkTo(listener.port, venue.identityOf("client"));
  const raw = connectTls({
    ...place,
    ...venue.identityOf("client"),
    checkServerIdentity: () => undefined,
  });
  raw.on("error", () => undefined);
  raw.write("GET / HTTP/1.1\r\n\r\n");
  raw.resume();
  await closed(raw);
  expect((await links.at(-1)!.closed).message).toContain("a frame has 542393671 bytes");
  expect(await honest.request("tlogPolicy", {})).toEqual(FILE);
});

test("strangers hold every place as the core is started again: its edges come back, of any run before", async () => {
  const folder = newFolder();
  const identity = venue.identityOf("server");
  const before = await startRemoteCore(identity, {}, folder);
  await linkTo(before.listener.port, venue.identityOf("client"));
  const { listener, place } = await startRemoteCore(identity, {}, folder);
  let strangers = 0;
  const another = (): number => {
    const socket = connect({ ...place, localAddress: `127.0.1.${1 + (strangers++ % 40)}` });
    socket.on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    return listener.handshakes;
  };
  // Forty at once, then twenty a second.
  await expect.poll(another).toBe(MAX_HANDSHAKES);
  const newcomer = connect({ ...place, localAddress: "127.0.2.1" });
  newcomer.on("error", () => undefined);
  await closed(newcomer);
  const edge = await linkTo(listener.port, venue.identityOf("client"));
  expect(await edge.request("tlogPolicy", {})).toEqual(FILE);
});

test("nobody listens: the connection fails", async () => {
  const { listener, place } = await startRemoteCore();
  await listener.close();
  const context = secureContextOf(venue.identityOf("client"));
  await expect(connectToRemoteCore(place, context)).rejects.toThrow("ECONNREFUSED");
});
