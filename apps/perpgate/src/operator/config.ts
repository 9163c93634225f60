/**
 * `perpgate config`: the settings in force and where each comes from; with `--catalog` every setting that
 * there is. Both follow from the schema of the settings. Secrets are hidden: keys, passwords, and what of
 * an address may hold one.
 */

import { Output } from "../cli/output.js";
import { readConfiguration, readSources } from "../serve/configuration.js";
import { flagSettings, type ServeOptions } from "../serve/options.js";
import { DEFAULT_SETTINGS } from "../serve/settings.js";
import { catalogOf, valueAt } from "../serve/settings-catalog.js";

const SECRETS: ReadonlySet<string> = new Set(["auth.nonceKey", "log.password", "log.token"]);
const HIDDEN = "(hidden)";
const WIDEST = 60;

interface ConfigOptions extends ServeOptions {
  readonly catalog?: boolean;
  readonly json?: boolean;
}

export async function showConfig({ catalog, json, ...options }: ConfigOptions): Promise<number> {
  const output = new Output(json === true);
  if (catalog === true) showCatalog(output);
  else showInForce(output, options);
  return 0;
}

function showCatalog(output: Output): void {
  const rows = catalogOf().map((entry) => {
    const value = valueAt(DEFAULT_SETTINGS, entry.setting);
    return { ...entry, ...(value === undefined ? {} : { default: shown(entry.setting, value) }) };
  });
  output.rows(
    [
      { title: "setting", cell: ({ setting }) => setting },
      { title: "takes", cell: ({ takes }) => takes },
      { title: "default", cell: ({ default: usual }) => text(usual) },
      { title: "meaning", cell: ({ meaning }) => meaning },
    ],
    rows,
    "",
  );
}

function showInForce(output: Output, options: ServeOptions): void {
  const flags = flagSettings(options);
  const settings = readConfiguration(flags, process.env);
  const sources = readSources(flags, process.env);
  const rows = catalogOf().flatMap(({ setting }) => {
    const value = valueAt(settings, setting);
    if (value === undefined) return [];
    const source = sources.find((one) => valueAt(one.settings, setting) !== undefined);
    return [{ setting, value: shown(setting, value), source: source?.origin ?? "default" }];
  });
  output.rows(
    [
      { title: "setting", cell: ({ setting }) => setting },
      { title: "value", cell: ({ value }) => text(value) },
      { title: "from", cell: ({ source }) => source },
    ],
    rows,
    "",
  );
}

/** For a table; `--json` has all of it. */
function text(value: unknown): string {
  if (value === undefined) return "";
  const whole = typeof value === "string" ? value : JSON.stringify(value);
  return whole.length > WIDEST ? `${whole.slice(0, WIDEST - 1)}…` : whole;
}

function shown(setting: string, value: unknown): unknown {
  return SECRETS.has(setting) ? HIDDEN : withoutSecrets(value);
}

/** Of addresses the user, the path and the query are hidden: RPC services put keys there. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return addressShown(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withoutSecrets(inner)]),
  );
}

function addressShown(value: string): string {
  if (!/^[a-z]+:\/\//i.test(value) || !URL.canParse(value)) return value;
  const { protocol, host, username, password, pathname, search, hash } = new URL(value);
  const isBare = `${username}${password}${pathname}${search}${hash}`.replace("/", "") === "";
  return isBare ? value : `${protocol}//${host}/${HIDDEN}`;
}
