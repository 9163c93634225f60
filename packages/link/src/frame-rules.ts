/** The rows of the table of frames: who sends a frame, what it is for, and the kinds of its fields. */

import type { TObject, TSchema } from "typebox";
import { count, type FieldKinds, type Kind, record, type ValuesOf } from "./kinds.js";
import { shaped } from "./schema-kind.js";

export type LinkEnd = "edge" | "core";

export interface NoticeRule<S, B> {
  readonly type: number;
  readonly from: S;
  readonly body: Kind<B>;
  readonly summary: string;
}

export interface RequestRule<B, A> {
  readonly type: number;
  readonly body: Kind<B>;
  readonly answer: Kind<A>;
  readonly summary: string;
  /** Whether it changes the venue without a signature: then it carries terms (`RequestTerms`). */
  readonly isUnsigned: boolean;
  /** Whether it changes the venue and is signed: a nonce makes it act once. */
  readonly isSigned: boolean;
}

export function notice<const S extends LinkEnd | "either", F extends FieldKinds>(
  type: number,
  from: S,
  fields: F,
  summary: string,
): NoticeRule<S, ValuesOf<F>> {
  return { type, from, body: record(fields), summary };
}

export function requestRule<F extends FieldKinds, A extends FieldKinds>(
  type: number,
  fields: F,
  answer: A,
  summary: string,
): RequestRule<ValuesOf<F>, ValuesOf<A>> {
  const bodies = { body: record(fields), answer: record(answer) };
  return { type, ...bodies, summary, isUnsigned: false, isSigned: false };
}

/** A request that changes the venue, and that nobody signs. */
export function unsigned<F extends FieldKinds, A extends FieldKinds>(
  type: number,
  fields: F,
  answer: A,
  summary: string,
): RequestRule<ValuesOf<F>, ValuesOf<A>> {
  return { ...requestRule(type, fields, answer, summary), isUnsigned: true };
}

/** A request that changes the venue, with a body that the session's key has signed. */
export function signedRequest<F extends FieldKinds, A extends FieldKinds>(
  type: number,
  fields: F,
  answer: A,
  summary: string,
): RequestRule<ValuesOf<F>, ValuesOf<A>> {
  return { ...requestRule(type, fields, answer, summary), isSigned: true };
}

/** A read that anybody may make: the contract has the shapes. */
export function publicRead<P extends TObject, Q extends TObject, R extends TSchema>(
  type: number,
  operation: ReadOperation<P, Q, R>,
) {
  const { params, query, success, summary } = operation;
  const fields = { params: shaped(params), query: shaped(query) };
  return read(requestRule(type, fields, { result: shaped(success.schema) }, summary));
}

/** A read of a session's own account. */
export function accountRead<P extends TObject, Q extends TObject, R extends TSchema>(
  type: number,
  operation: ReadOperation<P, Q, R>,
) {
  const { params, query, success, summary } = operation;
  const fields = { session: count(), params: shaped(params), query: shaped(query) };
  return read(requestRule(type, fields, { result: shaped(success.schema) }, summary));
}

function read<B, A>(rule: RequestRule<B, A>) {
  return { ...rule, isRead: true as const };
}

interface ReadOperation<P, Q, R> {
  readonly summary: string;
  readonly params: P;
  readonly query: Q;
  readonly success: { readonly schema: R };
}
