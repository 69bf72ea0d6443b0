/** What one event of the identity provider has changed, within its transaction. */
export interface Change {
  /** Whose event it is: the delivery goes with its organization. Users may belong to several. */
  organizationId?: string;
  /** The number of that organization, unless the event is ignored as it was deleted. */
  tenant?: number;
  isNew?: boolean;
  /** Why nothing was changed. */
  ignored?: string;
  /** Why the event cannot be applied yet. Names no organization: the delivery must outlive the one that is purged. */
  postponed?: string;
}
