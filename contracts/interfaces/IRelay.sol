// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IRelay
/// @notice Runs many numbered calls in one transaction, each isolated from the others, each number at most once, ever.
/// @dev The number is appended to every call's data as 32 bytes; a target reads it from there and never from its arguments.
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

    /// @notice One per batch. `executed` calls from the start of the list were dealt with (ran, failed or were skipped).
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

    function execute(Call[] calldata calls) external returns (uint256 executed);

    function cancel(uint256[] calldata numbers) external;

    function setOperator(address operator, bool allowed) external;

    function pause() external;

    function unpause() external;

    function isOperator(address account) external view returns (bool);

    function isConsumed(uint256 number) external view returns (bool);

    /// @notice Whether a batch is running right now.
    function executing() external view returns (bool);

    function owner() external view returns (address);
}
