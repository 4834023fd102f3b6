// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IRelay
/// @notice Runs many numbered calls in one transaction, each isolated from the others, each number at most once, ever.
/// @dev The number is appended to every call's data as 32 bytes; a target reads it from there and never from its
/// arguments.
interface IRelay {
    /// @param number The request number. It is consumed when the call ran, whether the call succeeded or failed.
    /// @param target The contract to call. It must have code and cannot be the relay.
    /// @param gasLimit The gas that the call gets, exactly.
    /// @param data The calldata, at least a selector. The number is appended to it.
    struct Call {
        uint256 number;
        address target;
        uint32 gasLimit;
        bytes data;
    }

    /// @notice One per batch. `executed` calls from the start of the list were dealt with (ran, failed or were
    /// skipped).
    /// @dev Fewer than were given: gas ran short, and the calls from that position on did not consume their numbers.
    event BatchExecuted(uint256 executed);

    /// @notice The call of this number ran and reverted. `reason` is its revert data, cut at 256 bytes.
    event CallFailed(uint256 indexed number, bytes reason);

    /// @notice The number had been consumed before, so the call did not run in this batch.
    event CallSkipped(uint256 indexed number);

    /// @notice The number was consumed without running anything.
    event NumberCancelled(uint256 indexed number);

    /// @notice An operator was added or removed.
    event OperatorSet(address indexed operator, bool allowed);

    /// @notice Thrown when the caller is not an operator (nor, for {cancel}, the owner).
    error RelayUnauthorizedOperator(address caller);

    /// @notice Thrown when the owner tries to give up the ownership: nobody could then remove a stolen operator key.
    error RelayOwnershipRequired();

    /// @notice Thrown when a call failed although it cannot have got the gas that it was promised. The batch is undone.
    error RelayCallStarved(uint256 number, uint256 gasLimit);

    /// @notice The reason in {CallFailed} when the target has no code or is the relay itself.
    error RelayInvalidTarget(address target);

    /// @notice The reason in {CallFailed} when the data is shorter than a selector.
    error RelayDataTooShort(uint256 length);

    /// @notice Runs the calls in order. Only an operator may call, while the relay is not paused.
    /// @dev A failing call undoes only itself. A number consumed before is skipped. When the gas left no longer
    /// suffices for the next call's full limit, the relay stops there cleanly.
    /// @param calls The calls; those whose numbers share the upper 248 bits are cheapest side by side.
    /// @return executed How many calls from the start of the list were dealt with.
    function execute(Call[] calldata calls) external returns (uint256 executed);

    /// @notice Consumes numbers without running anything, so that no signature over them can ever be used. Operators
    /// and the owner may call, even while the relay is paused. A number consumed before stays as it is, without an
    /// event.
    /// @param numbers The numbers to consume.
    function cancel(uint256[] calldata numbers) external;

    /// @notice Adds or removes an operator. Only the owner may call.
    /// @param operator The account that may, or may no longer, run batches.
    /// @param allowed Whether it may.
    function setOperator(address operator, bool allowed) external;

    /// @notice Stops all batches. Only the owner may call.
    function pause() external;

    /// @notice Lets batches run again. Only the owner may call.
    function unpause() external;

    /// @notice Whether the account may run batches.
    function isOperator(address account) external view returns (bool);

    /// @notice Whether the number was consumed. Not up to date for the batch that is running.
    function isConsumed(uint256 number) external view returns (bool);

    /// @notice Whether a batch is running right now.
    function executing() external view returns (bool);

    /// @notice The account that administers the relay.
    function owner() external view returns (address);
}
