/**
 * An unmodified litewitness (Debian's torchwood) as a child process, with a key in an ssh agent of this
 * process. Tests that need it are skipped, with the reason, unless PERPGATE_LITEWITNESS names the program.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { freePort } from "@perpgate/journal/testing";
import { NOTE_KEY, type NoteKey } from "@perpgate/protocol/receipts";

const NAME = "witness.example/w1";

/** The program, or why it is not there. Throws where tests must not be skipped. */
export function litewitnessProgram(): string | undefined {
  const program = process.env.PERPGATE_LITEWITNESS;
  if (program !== undefined) return program;
  if (process.env.REQUIRE_LITEWITNESS === "1") throw new Error("PERPGATE_LITEWITNESS is not set");
  console.log("a real witness is not tested: PERPGATE_LITEWITNESS is not set");
  return undefined;
}

export class Litewitness {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    private readonly folder: string,
    private readonly agent: SshAgent,
    private readonly port: number,
  ) {}

  static async prepare(program: string, folder: string): Promise<Litewitness> {
    const agent = await SshAgent.listen(join(folder, "agent.sock"));
    return new Litewitness(program, folder, agent, await freePort());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get key(): NoteKey {
    const { publicKey } = this.agent;
    return { name: NAME, algorithm: NOTE_KEY.cosignature, publicKey };
  }

  /** Adds a log that the witness follows; before `start`. */
  follow(origin: string, logKey: string): void {
    this.control("add-log", "-origin", origin);
    this.control("add-key", "-origin", origin, "-key", logKey);
  }

  async start(): Promise<void> {
    const args = ["-db", this.database, "-name", NAME, "-key", this.agent.fingerprint];
    args.push("-ssh-agent", join(this.folder, "agent.sock"), "-listen", `127.0.0.1:${this.port}`);
    const child = spawn(this.program, args, { stdio: ["ignore", "ignore", "pipe"] });
    this.child = child;
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString();
    });
    while (child.exitCode === null) {
      const isUp = await fetch(this.url).then(
        () => true,
        () => false,
      );
      if (isUp) return;
    }
    throw new Error(`litewitness ended: ${errors}`);
  }

  async stop(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }

  async close(): Promise<void> {
    await this.stop();
    this.agent.close();
  }

  private get database(): string {
    return join(this.folder, "witness.db");
  }

  private control(command: string, ...args: readonly string[]): void {
    const program = join(dirname(this.program), "witnessctl");
    const all = [command, "-db", this.database, ...args];
    const { status, stderr } = spawnSync(program, all, { encoding: "utf8" });
    if (status !== 0) throw new Error(`witnessctl ${command}: ${stderr}`);
  }
}

const LIST = 11;
const LISTED = 12;
const SIGN = 13;
const SIGNED = 14;
const FAILURE = 5;

/** An ssh agent with one Ed25519 key: it lists the key and signs with it. */
class SshAgent {
  private constructor(
    private readonly server: Server,
    private readonly privateKey: KeyObject,
    readonly publicKey: Uint8Array,
  ) {}

  static async listen(path: string): Promise<SshAgent> {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    const server = createServer();
    const agent = new SshAgent(server, privateKey, new Uint8Array(raw));
    server.on("connection", (socket) => agent.serve(socket));
    server.listen(path);
    await once(server, "listening");
    server.unref();
    return agent;
  }

  get fingerprint(): string {
    const digest = createHash("sha256").update(this.blob).digest("base64");
    return `SHA256:${digest.replaceAll("=", "")}`;
  }

  close(): void {
    this.server.close();
  }

  private get blob(): Buffer {
    return Buffer.concat([text("ssh-ed25519"), text(this.publicKey)]);
  }

  private serve(socket: Socket): void {
    let buffered = Buffer.alloc(0);
    socket.unref();
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      while (buffered.length >= 4 && buffered.length >= 4 + buffered.readUInt32BE(0)) {
        const end = 4 + buffered.readUInt32BE(0);
        socket.write(text(this.answer(buffered.subarray(4, end))));
        buffered = buffered.subarray(end);
      }
    });
  }

  private answer(message: Buffer): Buffer {
    if (message[0] === LIST) {
      return Buffer.concat([Buffer.of(LISTED, 0, 0, 0, 1), text(this.blob), text("witness")]);
    }
    if (message[0] !== SIGN) return Buffer.of(FAILURE);
    const dataAt = 5 + message.readUInt32BE(1);
    const data = message.subarray(dataAt + 4, dataAt + 4 + message.readUInt32BE(dataAt));
    const signature = sign(null, data, this.privateKey);
    const blob = Buffer.concat([text("ssh-ed25519"), text(signature)]);
    return Buffer.concat([Buffer.of(SIGNED), text(blob)]);
  }
}

/** Bytes after their length, as the agent's protocol has strings. */
function text(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
