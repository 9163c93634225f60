/** Every setting that a configuration may have: what it takes and what it means, by the schema. */

import { SettingsSchema } from "./settings-schema.js";

interface CatalogEntry {
  /** The path, such as `http.bodyBytes`. */
  readonly setting: string;
  /** Type, bounds and unit in words. */
  readonly takes: string;
  readonly meaning: string;
}

interface Schema {
  readonly type?: unknown;
  /** What the setting means. */
  readonly title?: string;
  /** What it takes, in words. */
  readonly description?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

const UNITS: readonly (readonly [ending: string, unit: string])[] = [
  ["MsPerSecond", "milliseconds a second"],
  ["PerSecond", "a second"],
  ["PerMinute", "a minute"],
  ["PerHour", "an hour"],
  ["Bytes", "bytes"],
  ["MiB", "MiB"],
  ["Ms", "milliseconds"],
];

export function catalogOf(schema: Schema = SettingsSchema, before = ""): readonly CatalogEntry[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const setting = before + name;
    const section = sectionIn(inner);
    const own =
      section === inner
        ? []
        : [{ setting, takes: takesOf(setting, inner), meaning: inner.title ?? "" }];
    return section === undefined ? own : [...own, ...catalogOf(section, `${setting}.`)];
  });
}

/** The value of a setting; undefined if it has none. Bots that are off or on have no section. */
export function valueAt(settings: object, setting: string): unknown {
  if (setting === "bots") return botsAt(settings);
  let value: unknown = settings;
  for (const key of setting.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.entries(value).find(([own]) => own === key)?.[1];
  }
  return value;
}

/** Whether there are bots: settings turn them on. */
function botsAt(settings: object): boolean | undefined {
  if (!("bots" in settings) || settings.bots === undefined) return undefined;
  if (typeof settings.bots !== "object" || settings.bots === null) return settings.bots === true;
  return "areWanted" in settings.bots ? settings.bots.areWanted === true : true;
}

/** The schema itself, or the alternative of a union, that has keys. */
function sectionIn(schema: Schema): Schema | undefined {
  if (schema.properties !== undefined) return schema;
  return schema.anyOf?.find(({ properties }) => properties !== undefined);
}

function takesOf(setting: string, schema: Schema): string {
  const unit = UNITS.find(([ending]) => setting.endsWith(ending))?.[1];
  return [kindOf(schema), boundsOf(schema), unit].filter((part) => part !== undefined).join(", ");
}

function kindOf({ description, enum: values, type, items }: Schema): string {
  if (values !== undefined) return `one of ${values.join(", ")}`;
  if (items !== undefined) return `a list, each ${kindOf(items)}`;
  if (typeof description === "string") return description;
  return KINDS[String(type)] ?? "an object";
}

const KINDS: Readonly<Record<string, string>> = {
  integer: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
};

function boundsOf({ minimum, maximum, exclusiveMinimum }: Schema): string | undefined {
  const from = minimum === undefined ? undefined : `from ${minimum}`;
  const above = exclusiveMinimum === undefined ? from : `above ${exclusiveMinimum}`;
  const to = maximum === undefined ? undefined : `to ${maximum}`;
  const bounds = [above, to].filter((part) => part !== undefined);
  return bounds.length === 0 ? undefined : bounds.join(" ");
}
