/** The commands of the log, as `Venue.submit` takes them. */

import type { Venue } from "@perpgate/venue";

type Command = Parameters<Venue["submit"]>[0];
export type SandboxCommandKind = Command["kind"];
export type SandboxCommand<K extends SandboxCommandKind> = Extract<Command, { kind: K }>;
