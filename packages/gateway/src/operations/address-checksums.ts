/** EIP-55 checksums in answers; the venue stores addresses in lower case. */

import type { Deposit } from "@perpgate/protocol";
import { checksumAddress, isChecksummedAddress } from "@perpgate/protocol/core";

const MAX_CHECKSUMS = 10_000;

/** Addresses with their EIP-55 checksum, which takes 25 µs: one deposit may credit a thousand accounts. */
export class AddressChecksums {
  private readonly known = new Map<string, string>();

  of(address: string): string {
    const known = this.known.get(address);
    if (known !== undefined) return known;
    if (this.known.size === MAX_CHECKSUMS) this.known.clear();
    const checked = checksummed(address);
    this.known.set(address, checked);
    return checked;
  }
}

/** With EIP-55 checksums in every address. */
export function withChecksums<D extends Deposit>(deposit: D, checksums: AddressChecksums): D {
  return {
    ...deposit,
    credits: deposit.credits.map((credit) => ({
      ...credit,
      account: checksums.of(credit.account),
    })),
  };
}

export function checksummed(address: string): string {
  return isChecksummedAddress(address) ? checksumAddress(address) : address;
}
