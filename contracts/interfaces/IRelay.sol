// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IRelay
/// @notice Runs many numbered calls in one transaction. The calls are isolated from each other, and each number runs at
/// most once, ever.
/// @dev The relay appends the number to the data of every call, as 32 bytes. A target reads the number there and never
/// takes it from its arguments.
interface IRelay {
    /// @param number The request number. It is consumed when the call ran, whether the call succeeded or failed.
    /// @param target The contract to call. It must have code and cannot be the relay.
    /// @param gasLimit The exact amount of gas that the call gets.
    /// @param data The calldata, at least a selector (4 bytes). The relay appends the number to it.
    struct Call {
        uint256 number;
        address target;
        uint32 gasLimit;
        bytes data;
    }

    /// @notice Emitted once per batch.
    /// @dev If `executed` is less than the number of calls, gas ran short: the calls from that position on did not run,
    /// and their numbers are not consumed.
    /// @param executed The number of calls, from the start of the list, that ran, failed or were skipped.
    event BatchExecuted(uint256 executed);

    /// @notice Emitted when a call ran and reverted.
    /// @param number The request number.
    /// @param reason The revert data, cut at 256 bytes.
    event CallFailed(uint256 indexed number, bytes reason);

    /// @notice Emitted when a call does not run because its number was consumed before.
    /// @param number The request number.
    event CallSkipped(uint256 indexed number);

    /// @notice Emitted when a number is consumed without a call.
    /// @param number The request number.
    event NumberCancelled(uint256 indexed number);

    /// @notice Emitted when an operator is added or removed.
    /// @param operator The account.
    /// @param allowed Whether it can run batches from now on.
    event OperatorSet(address indexed operator, bool allowed);

    /// @notice Emitted when the base of all hosted URIs is set.
    /// @param hostedBaseURI The new base, ending in a slash.
    event HostedBaseURIUpdated(string hostedBaseURI);

    /// @notice Thrown when the caller is not an operator; for {cancel}, when it is neither an operator nor the owner.
    /// @param caller The caller.
    error RelayUnauthorizedOperator(address caller);

    /// @notice Thrown when the owner renounces the ownership: without an owner, a stolen operator key could not be
    /// removed.
    error RelayOwnershipRequired();

    /// @notice Thrown when a call failed and may have received less gas than its limit. The whole batch is reverted.
    /// @param number The request number of the call.
    /// @param gasLimit The gas limit of the call.
    error RelayCallStarved(uint256 number, uint256 gasLimit);

    /// @notice The reason in {CallFailed} when the target has no code or is the relay itself.
    /// @param target The target.
    error RelayInvalidTarget(address target);

    /// @notice The reason in {CallFailed} when the data is shorter than a selector.
    /// @param length The length of the data, in bytes.
    error RelayDataTooShort(uint256 length);

    /// @notice Runs the calls in order. Only an operator can call this, and only while the relay is not paused.
    /// @dev A call that fails reverts only its own effects. A call whose number was consumed is skipped. When the
    /// remaining gas does not cover the full limit of the next call, the relay stops before that call.
    /// @param calls The calls. Neighbours whose numbers share the upper 248 bits cost least: they share a storage slot.
    /// @return executed The number of calls, from the start of the list, that ran, failed or were skipped.
    function execute(Call[] calldata calls) external returns (uint256 executed);

    /// @notice Consumes numbers without running a call, so that signatures over them can never be used. Operators and
    /// the owner can call this, even while the relay is paused. A number that is already consumed is ignored, without
    /// an event.
    /// @param numbers The numbers to consume.
    function cancel(uint256[] calldata numbers) external;

    /// @notice Adds or removes an operator. Only the owner can call this.
    /// @param operator The account.
    /// @param allowed Whether it can run batches from now on.
    function setOperator(address operator, bool allowed) external;

    /// @notice Stops all batches. Only the owner can call this.
    function pause() external;

    /// @notice Resumes batches. Only the owner can call this.
    function unpause() external;

    /// @notice Changes the base URI of all hosted collections that are not frozen. Only the owner can call this.
    /// @dev It is here and not in the factory, because the collections must know the contract that holds it, and the
    /// implementations are deployed before the factory.
    /// @param newHostedBaseURI The new base, ending in a slash.
    function setHostedBaseURI(string calldata newHostedBaseURI) external;

    /// @notice Tells whether the account can run batches.
    /// @param account The account.
    function isOperator(address account) external view returns (bool);

    /// @notice Tells whether the number was consumed. Inside a running batch the answer can be out of date.
    /// @param number The request number.
    function isConsumed(uint256 number) external view returns (bool);

    /// @notice Tells whether a batch is running at this moment.
    function executing() external view returns (bool);

    /// @notice Returns the base of all hosted URIs, for example `https://host/metadata/`.
    function hostedBaseURI() external view returns (string memory);

    /// @notice Returns a number that grows with each change of the owner. A collection uses it to recognize an offer of
    /// ownership that is older than the last change.
    function ownershipEpoch() external view returns (uint256);

    /// @notice Returns the account that administers the relay.
    function owner() external view returns (address);
}
