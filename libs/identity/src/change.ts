/** The result of applying one event of the identity provider. */
export interface Change {
  /**
   * The owner of the delivery. Absent for events of users, who may belong to several organizations.
   */
  organizationId?: string;
  /** The number of that organization. Absent when it was deleted. */
  tenant?: number;
  isNew?: boolean;
  /** Why the event was ignored. */
  ignored?: string;
  /**
   * Why the event cannot be applied yet. `organizationId` is then absent, because the purge would
   * delete the delivery.
   */
  postponed?: string;
}
