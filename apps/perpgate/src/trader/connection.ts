/**
 * From a call's options to a gateway, and to the session of its profile.
 *
 * The address is that of `--url`, else of PERPGATE_URL, else where the profile is logged in, else
 * the one that `npm start` listens on.
 */

import { PerpgateClient, type Session } from "@perpgate/sdk";
import type { Arguments, OptionRules } from "../cli/command.js";
import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { Profile, type ProfileContent } from "./profile.js";
import { failureOf } from "./venue-failure.js";

export const DEFAULT_URL = "http://127.0.0.1:8080";

export const VENUE_OPTIONS: OptionRules = {
  url: { kind: "text", value: "URL", help: `the gateway (${DEFAULT_URL})  [PERPGATE_URL]` },
  profile: { kind: "text", value: "NAME", help: "whose session (default)  [PERPGATE_PROFILE]" },
  json: { kind: "flag", help: "JSON for programs" },
};

export interface Venue {
  readonly url: string;
  readonly client: PerpgateClient;
  readonly profile: Profile;
  readonly known: ProfileContent | undefined;
  readonly output: Output;
}

export interface TradingVenue extends Venue {
  readonly session: Session;
}

/** Someone is waiting in front of a screen: a gateway that is down is told after about a second. */
const PATIENCE = { timeoutMs: 5_000, retries: 3, budgetMs: 20_000 };

/** Runs against the gateway that the call names, and says what to do about whatever it refuses. */
export async function withVenue(
  args: Arguments,
  run: (venue: Venue) => Promise<number>,
): Promise<number> {
  const venue = venueOf(args);
  try {
    return await run(venue);
  } catch (error) {
    throw failureOf(error, venue.url);
  } finally {
    venue.client.close();
  }
}

/** The same with the profile's session; refuses, with the command to run, where there is none. */
export function withSession(
  args: Arguments,
  run: (venue: TradingVenue) => Promise<number>,
): Promise<number> {
  return withVenue(args, (venue) => run({ ...venue, session: sessionOf(venue) }));
}

function venueOf(args: Arguments): Venue {
  const profile = new Profile(args.text("profile") ?? process.env.PERPGATE_PROFILE ?? "default");
  const known = profile.read();
  const url = givenUrl(args) ?? known?.url ?? DEFAULT_URL;
  const output = new Output(args.has("json"));
  return { url, client: clientOf(args, url), profile, known, output };
}

function sessionOf({ profile, known, url, client }: Venue): Session {
  const hint = `perpgate login${profile.name === "default" ? "" : ` --profile ${profile.name}`}`;
  if (known === undefined || known.session === null) {
    throw new StartError(`you are not logged in; run: ${hint}`);
  }
  if (known.url !== url) {
    throw new StartError(
      `profile "${profile.name}" is logged in at ${known.url}, not at ${url}; ` +
        `run: perpgate login --url ${url} --profile NAME`,
    );
  }
  try {
    return client.restore(known.session);
  } catch {
    throw new StartError(`the session in ${profile.folder} cannot be used; run: ${hint}`);
  }
}

/** In one spelling, so that the same place compares as the same. */
function givenUrl(args: Arguments): string | undefined {
  const text = args.text("url") ?? process.env.PERPGATE_URL;
  if (text === undefined || text === "") return undefined;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw args.fail(`"${text}" is no address of a gateway, such as ${DEFAULT_URL}`);
  }
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, "");
}

function clientOf(args: Arguments, url: string): PerpgateClient {
  try {
    return new PerpgateClient({ url, ...PATIENCE });
  } catch (error) {
    throw args.fail(error instanceof Error ? error.message : String(error));
  }
}
