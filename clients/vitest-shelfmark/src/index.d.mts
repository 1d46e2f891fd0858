/** Says that the command `shelfmark` is not there, and what to do. */
export declare class CommandMissing extends Error {}

export interface StartOptions {
  /** The command; else the variable SHELFMARK_BIN, else `shelfmark` on PATH. */
  binary?: string;
  /** 'memory' (default), 'temporary' (a folder that goes away with the server), or a folder, which stays. */
  data?: string;
  /** Further words for `shelfmark serve`. */
  args?: string[];
  /** How long the start may take, in milliseconds; 60,000 by default. */
  startMsMax?: number;
}

export interface Addresses {
  binary: string;
  dynamodb: string;
  cql: string;
}

/** Where the clients of a running server find it. */
export declare class Place {
  constructor(addresses: Addresses);
  /** The path of the command that runs. */
  readonly binary: string;
  /** Where DynamoDB clients connect, as a URL. */
  readonly endpoint: string;
  /** Where CQL clients connect, as HOST:PORT. */
  readonly contactPoint: string;
  readonly cqlHost: string;
  readonly cqlPort: number;
  /** The configuration that clients of the AWS SDK for JavaScript take. */
  readonly dynamodb: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
  };
  /** The options that `Client` of cassandra-driver takes. */
  readonly cassandra: { contactPoints: string[]; protocolOptions: { port: number }; localDataCenter: string };
  /** The variables by which AWS SDKs find the server, and CQL's as CQL_HOST and CQL_PORT. */
  readonly environment: Record<string, string>;
  /** Removes all rows of all tables, of both faces. The tables and their indexes stay. */
  empty(): Promise<void>;
  /** Drops all tables of DynamoDB and all keyspaces of CQL. */
  reset(): Promise<void>;
}

/** A server that this process started. */
export declare class Server extends Place {
  private constructor();
  readonly addresses: Addresses;
  /** What the server has written to its standard output and error. */
  readonly log: string;
  /** Stops the server and waits for its end; rejects if it had ended before. A second call does nothing. */
  stop(): Promise<void>;
}

/** Starts a server on free loopback ports and returns it once every port answers. */
export declare function start(options?: StartOptions): Promise<Server>;
