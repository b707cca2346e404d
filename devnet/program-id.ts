/** The bankroll program of the local chain, base58; a deployment sets PROGRAM_ID instead. */
export const DEVNET_PROGRAM_ID = 'GQbwY6dirumAYAK1H8rxKhuZtX1F3XNXH1CiPaSLVbrf';
