/** The program of the local chain: what is indexed where PROGRAM_ID names no other. */
export const DEVNET_PROGRAM_ID = 'GQbwY6dirumAYAK1H8rxKhuZtX1F3XNXH1CiPaSLVbrf';
