/**
 * Runs the steps of a Dockerfile in plain folders, one per stage: for machines without Docker. A stage's
 * folder is its root; absolute paths of the steps are placed below it. The base image is the machine:
 * its Node, its npm and a home folder.
 *
 * Steps must be in the JSON form, which needs no shell, and every instruction must be known here.
 */

import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

/** Instructions that say something to Docker alone. */
const DECLARATIONS = new Set(["VOLUME", "EXPOSE", "USER", "HEALTHCHECK"]);

/** @returns {{ instruction: string, text: string }[]} */
export function parseDockerfile(text) {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, instruction, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      if (instruction === undefined) throw new Error(`not an instruction: ${line}`);
      return { instruction, text: rest };
    });
}

export class DockerBuild {
  stages = [];
  command = [];

  /** `runStep` may take over a command of RUN: returns whether it did. */
  constructor(context, folder, runStep = () => false) {
    this.context = context;
    this.folder = folder;
    this.runStep = runStep;
    this.ignored = ignoredBy(readFileSync(join(context, ".dockerignore"), "utf8"));
  }

  run(steps) {
    for (const { instruction, text } of steps) this.step(instruction, text);
    return this;
  }

  /** The stage that is built, at the end the image. */
  get stage() {
    return this.stages.at(-1);
  }

  /** What a container runs, with paths of this machine. */
  get start() {
    return [...this.entrypoint, ...this.command].map((word) => this.placed(word));
  }

  /** A path of the image on this machine; other words as they are. */
  placed(word) {
    const isPath = /^\/(?:app|home\/node)(?:\/|$)/.test(word);
    return isPath ? join(this.stage.root, word) : word;
  }

  step(instruction, text) {
    if (DECLARATIONS.has(instruction)) return;
    const { stage } = this;
    switch (instruction) {
      case "FROM":
        this.begin(text);
        return;
      case "WORKDIR":
        stage.cwd = join(stage.root, text);
        mkdirSync(stage.cwd, { recursive: true });
        return;
      case "ENV": {
        const [, name, value] = /^(\w+)=(.*)$/.exec(text);
        stage.env[name] = this.placed(value);
        return;
      }
      case "COPY":
        this.copy(text.split(" "));
        return;
      case "RUN":
        this.execute(JSON.parse(text).map((word) => this.placed(word)));
        return;
      case "ENTRYPOINT":
        this.entrypoint = JSON.parse(text);
        return;
      case "CMD":
        this.command = JSON.parse(text);
        return;
      default:
        throw new Error(`unknown instruction ${instruction}`);
    }
  }

  begin(text) {
    const [image, , name = String(this.stages.length)] = text.split(" ");
    const root = join(this.folder, name);
    mkdirSync(join(root, "home/node"), { recursive: true });
    this.stages.push({ name, image, root, cwd: root, env: {} });
  }

  copy(words) {
    const from = words[0].startsWith("--from=") ? words.shift().slice("--from=".length) : undefined;
    const target = words.pop();
    for (const source of words) {
      const path = from === undefined ? join(this.context, source) : this.stagePath(from, source);
      const isInto = target.endsWith("/") || target === ".";
      const isFile = statSync(path).isFile();
      const to = resolve(this.stage.cwd, target, isInto && isFile ? basename(path) : "");
      if (from !== undefined) moveTree(path, to);
      else copyTree(path, to, { isLeftOut: (file) => this.ignored(relative(this.context, file)) });
    }
  }

  stagePath(name, path) {
    const stage = this.stages.find((one) => one.name === name);
    if (stage === undefined) throw new Error(`no stage ${name}`);
    return join(stage.root, path);
  }

  execute([program, ...args]) {
    const { cwd, env } = this.stage;
    if (this.runStep([program, ...args], cwd)) return;
    const { PATH, HOME } = process.env;
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd,
      env: { PATH, HOME, ...env },
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    });
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stdout}${stderr}`);
  }
}

/** The forms that are used: names, `**` at the beginning, `*` within a name. */
export function ignoredBy(text) {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const patterns = lines.map((line) => {
    const source = line
      .replaceAll(".", "\\.")
      .replace(/^\*\*\//, "(?:.*/)?")
      .replaceAll(/(?<![.)])\*/g, "[^/]*");
    return new RegExp(`^${source}$`);
  });
  return (path) => path !== "" && patterns.some((pattern) => pattern.test(path));
}

/** Instead of a copy, which takes long: no step may copy the same path of a stage twice. */
function moveTree(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
}

/**
 * Copies a folder or a file. By hard links with `isLinked`, for what nobody changes in place; names that
 * begin with a dot are copied even then, since npm rewrites its own. Other tests run at the same time: what
 * vanishes meanwhile was theirs, and is left out.
 */
export function copyTree(from, to, { isLinked = false, isLeftOut = () => false } = {}) {
  if (isLeftOut(from)) return;
  try {
    const found = lstatSync(from);
    if (found.isDirectory()) {
      mkdirSync(to, { recursive: true });
      const names = readdirSync(from);
      for (const name of names) {
        copyTree(join(from, name), join(to, name), { isLinked, isLeftOut });
      }
    } else if (found.isSymbolicLink()) {
      symlinkSync(readlinkSync(from), to);
    } else if (!isLinked || basename(from).startsWith(".") || !hasLinked(from, to)) {
      cpSync(from, to, { preserveTimestamps: true });
    }
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

/** Not to another disk. */
function hasLinked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** Whether a folder of the context has what an image must not have. */
export function hasAny(folder, names) {
  return names.filter((name) => existsSync(join(folder, name)));
}
