/** What the supervisor and the processes that it starts tell each other, over Node's channels. */

import type { SignInRules } from "@perpgate/gateway";
import type { RemoteCores } from "../link-settings.js";
import type { Accepted } from "../options.js";
import type { Settings } from "../settings.js";

/** An answer to a request for metrics; without a text if they could not be collected. */
interface MetricsAnswer {
  readonly kind: "metrics";
  readonly id: number;
  readonly text?: string;
}

/** Asks for the metrics of this process alone. */
interface MetricsRequest {
  readonly kind: "metrics";
  readonly id: number;
}

export interface CoreData {
  readonly settings: Settings;
  readonly accepted: Accepted;
  readonly attestorKey: string | undefined;
}

export type ToCore =
  | MetricsRequest
  /** An orderly stop, which ends after `edgesEnded`. */
  | { readonly kind: "stop"; readonly withinMs: number }
  | { readonly kind: "edgesEnded" };

/** What the banner says of a core. */
export interface CoreFacts {
  readonly dataFolder: string;
  /** The version of the engine's rules that the venue was opened with. */
  readonly engineVersion: number;
  /** The verifier key of the transparency log: what traders pin. */
  readonly logKey: string;
}

export type FromCore =
  | MetricsAnswer
  /** Edges may connect. */
  | { readonly kind: "ready"; readonly facts: CoreFacts }
  /** Whether this core joined before the others of its cluster that run; at first it did not. */
  | { readonly kind: "first"; readonly isFirst: boolean }
  /** An operator, or a signal to the core, asks for an orderly stop. */
  | { readonly kind: "leave" };

export interface EdgeData {
  readonly name: string;
  readonly settings: Settings;
  readonly version: string;
  readonly signIn: SignInRules;
  /** The same at all edges of a venue. */
  readonly nonceKey: Uint8Array;
  /** Folder of the trading page. */
  readonly page: string | undefined;
  /** On other machines; undefined: the core of the same supervisor. */
  readonly cores: RemoteCores | undefined;
  /** Whether one more core is this machine's, of which `connect` tells. */
  readonly hasOwnCore: boolean;
}

export type ToEdge =
  | MetricsRequest
  /** The core that listens in this folder is ready. */
  | { readonly kind: "connect"; readonly folder: string }
  | { readonly kind: "coreEnded" }
  | { readonly kind: "ping" }
  | { readonly kind: "stop" }
  /** The metrics of all processes, as asked for. */
  | { readonly kind: "page"; readonly id: number; readonly text?: string };

export type FromEdge =
  | MetricsAnswer
  | { readonly kind: "listening"; readonly url: string }
  /** Before it listens: why it cannot. */
  | { readonly kind: "failed"; readonly text: string; readonly exitCode: number }
  | { readonly kind: "pong" }
  /** Asks for the metrics of all processes. */
  | { readonly kind: "page"; readonly id: number };
