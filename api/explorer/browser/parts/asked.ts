import { createContext } from 'preact';

/** The path of the API whose answer the numbers below come from. */
export const Asked = createContext<string | null>(null);
