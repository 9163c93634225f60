/** Names: one subject per writer, so that the server can check which message a writer sent last. */

import { ClusterError } from "./errors.js";

/** What NATS allows in a stream's name and in a token of a subject, less what shells treat specially. */
const STREAM = /^[A-Za-z0-9_-]{1,64}$/;

export function checkStreamName(stream: string): void {
  if (STREAM.test(stream)) return;
  const rule = "1 to 64 letters, digits, hyphens and underscores";
  throw new ClusterError("unsuitable", `"${stream}" is no stream name: use ${rule}`);
}

export const subjectOf = (stream: string, writer: string): string => `${stream}.log.${writer}`;

/** Of the core that leads. */
export const coreSubject = (stream: string): string => `${stream}.log.core`;

/** What cores say of themselves; outside the stream. */
export const heartbeatSubject = (stream: string): string => `${stream}.cores`;

/** Outside the stream: what is published here is not kept. */
export const announcementSubject = (stream: string): string => `${stream}.announcements`;

export const MAX_ANNOUNCEMENT_BYTES = 65_536;

export const subjectFilter = (stream: string): string => `${stream}.log.*`;
