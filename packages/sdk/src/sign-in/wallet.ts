/**
 * The signer of the sign-in message: a local account (viem's, or any object with `address` and
 * `signMessage`), or a browser wallet (EIP-1193).
 */

import { checksumAddress, hexFromBytes } from "@perpgate/protocol/core";

/** A viem local account fits. */
export interface MessageSigner {
  readonly address: string;
  signMessage(args: { message: string }): Promise<string>;
}

/** An EIP-1193 provider, such as `window.ethereum`. */
export interface WalletProvider {
  request(args: { method: string; params?: unknown }): Promise<unknown>;
}

/** Exactly one of a local account and a wallet. */
export type SignerChoice =
  | { readonly account: MessageSigner; readonly wallet?: undefined; readonly address?: undefined }
  | { readonly wallet: WalletProvider; readonly address?: string; readonly account?: undefined };

/** The signer with its EIP-55 address; a wallet's first account if no address is given. */
export async function signerOf(choice: SignerChoice): Promise<MessageSigner> {
  const { account, wallet, address } = choice;
  if (account !== undefined) {
    return {
      address: checksumAddress(account.address),
      signMessage: (args) => account.signMessage(args),
    };
  }
  const chosen = checksumAddress(address ?? (await firstAccountOf(wallet)));
  return {
    address: chosen,
    signMessage: ({ message }) => personalSign(wallet, chosen, message),
  };
}

/** The chain of a wallet. Mainnet for a local account and for a wallet that does not report one. */
export async function chainIdOf({ wallet }: SignerChoice): Promise<number> {
  if (wallet === undefined) return 1;
  const answer = await wallet.request({ method: "eth_chainId" }).catch(() => undefined);
  const chainId = Number(answer);
  return typeof answer === "string" && Number.isSafeInteger(chainId) && chainId > 0 ? chainId : 1;
}

async function firstAccountOf(wallet: WalletProvider): Promise<string> {
  const accounts = await wallet.request({ method: "eth_requestAccounts" });
  const [first]: unknown[] = Array.isArray(accounts) ? accounts : [];
  if (typeof first !== "string") throw new TypeError("the wallet shares no account");
  return first;
}

async function personalSign(
  wallet: WalletProvider,
  address: string,
  message: string,
): Promise<string> {
  const hex = `0x${hexFromBytes(new TextEncoder().encode(message))}`;
  const signature = await wallet.request({ method: "personal_sign", params: [hex, address] });
  if (typeof signature !== "string") throw new TypeError("the wallet returned no signature");
  return signature;
}
