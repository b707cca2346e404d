/** Owns the accounts that no other program owns; also given as the owner of accounts that do not exist. */
export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
