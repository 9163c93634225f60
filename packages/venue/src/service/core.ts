/** The core's end of a link to an edge: what edges ask for, answered from one venue. */

import { CoreLink, type Receiver, type RequestHandlers, type Transport } from "@perpgate/link";
import type { ClusterStatus } from "@perpgate/protocol";
import type { Venue } from "../venue.js";
import { AccountCalls } from "./account-calls.js";
import { AccountLimit, type AccountLimitSettings } from "./account-limits.js";
import { accountReads } from "./account-reads.js";
import type { Attestation } from "./attestation.js";
import { deposits } from "./deposits.js";
import { logFiles } from "./log-files.js";
import { publicReads } from "./public-reads.js";

/** Requests of one edge in flight. Its budgets and limits admit far fewer. */
const WINDOW = 100_000;

export interface CoreOptions {
  readonly venue: Venue;
  readonly limits: AccountLimitSettings;
  /** Undefined under the `dev` attestor. */
  readonly attestation?: Attestation | undefined;
  /** How this core sees the replicated log, if there is one. */
  readonly clusterStatus?: (() => ClusterStatus | undefined) | undefined;
  /** A request failed with what is no refusal: a fault of this process. */
  readonly onFault: (error: unknown, request: string) => void;
}

export class Core {
  private readonly handlers: RequestHandlers;

  constructor(private readonly options: CoreOptions) {
    const { venue, clusterStatus, limits } = options;
    const { accountReadsPerSecond, accountReadsBurst, depositsPerMinute, unseenDeposits } = limits;
    const reads = new AccountLimit("account-reads", accountReadsPerSecond, accountReadsBurst);
    this.handlers = {
      ...publicReads(venue, clusterStatus),
      ...logFiles(venue),
      ...accountReads(venue, new AccountCalls(venue, reads)),
      ...deposits({
        venue,
        attestation: options.attestation,
        limit: new AccountLimit("deposits", depositsPerMinute / 60, depositsPerMinute),
        maxUnseen: unseenDeposits,
      }),
    };
  }

  connect(transport: (receiver: Receiver) => Transport): CoreLink {
    const { venue, onFault } = this.options;
    return new CoreLink(transport, {
      handlers: this.handlers,
      notices: {},
      window: WINDOW,
      isReplicated: venue.isReplicated,
      position: () => venue.seq,
      onFault,
    });
  }
}
