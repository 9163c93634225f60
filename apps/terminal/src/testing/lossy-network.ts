/** A network that loses requests, or the answers to them, as a test decides. */

import type { FetchLike } from "@perpgate/sdk";

export class LossyNetwork {
  /** The venue gets requests with this path, and the client no answer. */
  losesAnswersTo: string | undefined;
  /** Requests with this path do not arrive. */
  loses: string | undefined;
  private readonly sent: { readonly path: string; readonly body: string | undefined }[] = [];

  readonly fetch: FetchLike = async (url, init) => {
    const path = new URL(url).pathname;
    this.sent.push({ path, body: init.body });
    if (path === this.loses) throw new TypeError("the request was lost");
    const answer = await fetch(url, init);
    if (path === this.losesAnswersTo) {
      await answer.text();
      throw new TypeError("the answer was lost");
    }
    return answer;
  };

  /** The bodies that were sent to this path. */
  bodies(path: string): Record<string, unknown>[] {
    return this.sent
      .filter((each) => each.path === path)
      .map(({ body }) => JSON.parse(body ?? "{}"));
  }
}
