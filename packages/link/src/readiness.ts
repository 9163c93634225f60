/** What must hold for a process to serve traders. */

import { ApiError } from "@perpgate/protocol/core";

/** One condition of readiness; a reason says what is missing. */
export interface ReadinessProbe {
  readonly name: string;
  notReadyReason(): string | undefined;
}

/** @throws ApiError `not_ready` with the first reason. */
export function refuseUnready(probes: readonly ReadinessProbe[]): void {
  for (const probe of probes) {
    const reason = probe.notReadyReason();
    if (reason === undefined) continue;
    throw new ApiError("not_ready", { reason }, { details: { probe: probe.name } });
  }
}
